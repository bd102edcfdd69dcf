// Keeps the page of a study up to date while it runs: asks the server what is new, and draws it all again.

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
      const answer = await fetch(`${location.pathname}/data?known=${encodeURIComponent((waiting ?? study).revision)}`, { cache: "no-store" });
      if (answer.status === 200) waiting = await answer.json();
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
