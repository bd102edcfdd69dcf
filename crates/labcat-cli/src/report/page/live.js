// Keeps the page of a study up to date while it runs: asks the server what is new, adds it to what is known, and draws it all again.

const POLL = 1500; // milliseconds; large studies are asked for less often, so that a page has time for its reader
const SHARE = 10;
const main = document.querySelector("main");
const blank = main.cloneNode(true);
const badge = html("span", { class: "live", id: "badge", role: "status" });
document.querySelector("header").prepend(badge);

function tell(study, lost) {
  badge.className = lost ? "live lost" : study.activity === "running" ? "live running" : "live";
  badge.textContent = lost ? "no answer; as it was last known" : study.activity === "running" ? "live, running" : "live";
}

// The study with what is new. The server leaves out the beginning of a list that the page has.
function joined(known, { since, ...news }) {
  const list = (name) => [...known[name].slice(0, since[name]), ...news[name]];
  return { ...news, evaluations: list("evaluations"), trust_regions: list("trust_regions") };
}

function startLive(first) {
  let [study, shown, waiting] = [first, showStudy(first), null];
  const draw = () => {
    if (!waiting || shown.isBusy()) return;
    const view = shown.chosen();
    shown.close();
    main.style.minHeight = `${main.offsetHeight}px`; // the page must not jump while it is empty
    main.replaceChildren(...blank.cloneNode(true).childNodes);
    $("contents").replaceChildren();
    [study, waiting] = [waiting, null];
    shown = showStudy(study);
    shown.choose(view);
    main.style.minHeight = "";
  };
  const ask = async () => {
    const began = performance.now();
    try {
      const known = waiting ?? study;
      const [evaluations, regions] = known.history;
      const has = `evaluations=${evaluations}&trust_regions=${regions}`;
      const answer = await fetch(`${location.pathname}/data?known=${encodeURIComponent(known.revision)}&${has}`, { cache: "no-store" });
      if (answer.status === 200) waiting = joined(known, await answer.json());
      tell(waiting ?? study, !answer.ok);
    } catch {
      tell(study, true);
    }
    draw();
    setTimeout(ask, Math.max(POLL, SHARE * (performance.now() - began)));
  };
  tell(study, false);
  setTimeout(ask, POLL);
}
