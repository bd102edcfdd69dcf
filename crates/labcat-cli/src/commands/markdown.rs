//! The manual's Markdown as plain text for a terminal.

/// Paragraphs, lists and tables wrapped to a width, code as it is. Links lose their targets.
pub(super) fn plain(markdown: &str, width: usize) -> String {
    let mut page = Page { text: String::new(), width, lines: String::new(), hanging: 0 };
    let (mut code, mut heads) = (false, Vec::new());
    for line in markdown.lines() {
        if line.starts_with("```") {
            page.end();
            code = !code;
        } else if code {
            page.text += format!("    {line}").trim_end();
            page.text.push('\n');
        } else if let Some(row) = line.strip_prefix('|') {
            page.end();
            let cells = cells(row);
            match heads.is_empty() {
                true => heads = cells,
                false => page.row(&heads, &cells),
            }
        } else {
            heads.clear();
            page.line(line);
        }
    }
    page.end();
    page.text
}

/// The page so far, and the block whose lines are still being collected.
struct Page {
    text: String,
    width: usize,
    lines: String,
    hanging: usize,
}

impl Page {
    fn line(&mut self, line: &str) {
        let item = line.starts_with("- ");
        if item || line.is_empty() || line.starts_with('#') {
            self.end();
        }
        match line.trim_start_matches('#').trim_start() {
            "" if !self.text.ends_with("\n\n") => self.text.push('\n'),
            "" => {}
            words => {
                self.hanging = if item { 2 } else { self.hanging };
                self.lines += words;
                self.lines.push(' ');
            }
        }
        if line.starts_with('#') {
            self.end();
        }
    }

    /// Writes the block that was collected.
    fn end(&mut self) {
        let (lines, hanging) = (std::mem::take(&mut self.lines), std::mem::take(&mut self.hanging));
        self.wrapped(&lines, 0, hanging);
    }

    /// The first cell of a row stands alone, the others below it, from the third on with the heads of their columns.
    fn row(&mut self, heads: &[String], cells: &[String]) {
        if cells.iter().all(|cell| !cell.is_empty() && cell.chars().all(|c| c == '-' || c == ':')) {
            return;
        }
        for (column, cell) in cells.iter().enumerate().filter(|(_, cell)| !cell.is_empty()) {
            let indent = if column == 0 { 2 } else { 6 };
            match heads.get(column).filter(|head| column > 1 && !head.is_empty()) {
                Some(head) => self.wrapped(&format!("{head}: {cell}"), indent, indent),
                None => self.wrapped(cell, indent, indent),
            }
        }
    }

    fn wrapped(&mut self, text: &str, indent: usize, hanging: usize) {
        let mut used = 0;
        for (k, word) in unmarked(text).split_whitespace().enumerate() {
            let length = word.chars().count();
            if used > 0 && used + 1 + length > self.width {
                self.text.push('\n');
                used = 0;
            }
            let before = match (k, used) {
                (0, _) => indent,
                (_, 0) => hanging,
                _ => 1,
            };
            self.text += &" ".repeat(before);
            self.text += word;
            used += before + length;
        }
        if used > 0 {
            self.text.push('\n');
        }
    }
}

/// The cells of a row after its first bar; `\|` is a bar inside a cell.
fn cells(row: &str) -> Vec<String> {
    const BAR: &str = "\u{1}";
    let row = row.replace("\\|", BAR);
    row.trim_end().trim_end_matches('|').split('|').map(|cell| cell.trim().replace(BAR, "|")).collect()
}

/// Without the targets of links, and without marks of bold words outside code.
fn unmarked(text: &str) -> String {
    let (mut plain, mut rest) = (String::new(), text);
    while let Some(at) = rest.find("](") {
        match (rest[..at].rfind('['), rest[at..].find(')')) {
            (Some(open), Some(close)) => {
                plain += &rest[..open];
                plain += &rest[open + 1..at];
                rest = &rest[at + close + 1..];
            }
            _ => {
                plain += &rest[..at + 2];
                rest = &rest[at + 2..];
            }
        }
    }
    plain += rest;
    let parts = plain.split('`').enumerate();
    parts
        .map(|(k, part)| if k % 2 == 0 { part.replace("**", "") } else { part.to_owned() })
        .collect::<Vec<_>>()
        .join("`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chapter_becomes_plain_text() {
        let chapter = "## A title\n\nSome **bold** words, a [link](#there) to [`labcat run`](x.md), and `2**3`,\nof a paragraph.\n\n\
            - an item that\n  goes on and on\n- another\n\n```console\n$ labcat   run [x](y)\n```\n\n\
            | key | meaning | if absent |\n|---|---|---|\n| `a` | what `x\\|y` is | 1 |\n| | more | |\n\nThe end.\n";
        let text = "A title\n\nSome bold words, a link to\n`labcat run`, and `2**3`, of a\nparagraph.\n\n\
            - an item that goes on and on\n- another\n\n    $ labcat   run [x](y)\n\n  `a`\n      what `x|y` is\n      if absent: 1\n      more\n\nThe end.\n";
        assert_eq!(plain(chapter, 30), text);
        assert_eq!(plain("- an item that goes on and on\n", 20), "- an item that goes\n  on and on\n");
    }
}
