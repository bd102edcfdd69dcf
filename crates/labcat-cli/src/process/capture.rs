//! The output of a program in bounded memory: its beginning and end are kept for people, its end for the value.

/// How much of the end of an output is searched for the value.
pub(crate) const SEARCHED: usize = 4 * 1024 * 1024;

/// How much more than wanted the end may grow before it is cut: a program that floods us shall not cost a copy each time.
const SLACK: usize = 1024 * 1024;

/// What was kept of one stream.
#[derive(Clone, Debug)]
pub(crate) struct Capture {
    head: Vec<u8>,
    tail: Vec<u8>,
    total: u64,
    /// For people: this much in all, half of it the beginning and half of it the end.
    shown: usize,
    /// The end that is kept, for people or for the value.
    end: usize,
}

impl Capture {
    /// Keeps `shown` bytes for people and the last `searched` for the value.
    pub(crate) fn new(shown: usize, searched: usize) -> Capture {
        Capture { head: Vec::new(), tail: Vec::new(), total: 0, shown, end: searched.max(shown.div_ceil(2)) }
    }

    /// Takes in what the program wrote next.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        let room = self.shown / 2 - self.head.len();
        self.head.extend_from_slice(&bytes[..room.min(bytes.len())]);
        self.tail.extend_from_slice(bytes);
        if self.tail.len() > self.end + SLACK {
            self.tail.drain(..self.tail.len() - self.end);
        }
    }

    /// So many bytes of the program were never seen.
    pub(crate) fn skip(&mut self, bytes: u64) {
        self.total += bytes;
        self.tail.clear();
    }

    /// What is kept for people, with a line that says how much is missing.
    pub(crate) fn text(&self) -> String {
        if self.total <= self.shown as u64 {
            return String::from_utf8_lossy(&self.tail).into_owned();
        }
        let end = &self.tail[self.tail.len().saturating_sub(self.shown.div_ceil(2))..];
        let left_out = self.total - (self.head.len() + end.len()) as u64;
        let (head, end) = (String::from_utf8_lossy(&self.head), String::from_utf8_lossy(end));
        let note = format!("[… {left_out} bytes left out …]");
        [&*head, &note, &*end].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n")
    }

    /// The end of the stream, in which the value is looked for; false if its beginning is missing.
    pub(crate) fn searched(&self) -> (String, bool) {
        let end = &self.tail[self.tail.len().saturating_sub(self.end)..];
        (String::from_utf8_lossy(end).into_owned(), self.total == end.len() as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn captured(chunks: &[&[u8]]) -> Capture {
        let mut capture = Capture::new(8, 32);
        chunks.iter().for_each(|chunk| capture.push(chunk));
        capture
    }

    #[test]
    fn short_output_is_kept_whole() {
        let capture = captured(&[b"one\n", b"2\n \n"]);
        assert_eq!(capture.text(), "one\n2\n \n");
        assert_eq!(capture.searched(), ("one\n2\n \n".to_owned(), true));
    }

    #[test]
    fn long_output_keeps_both_ends_in_bounded_memory() {
        let mut capture = captured(&[b"first\n"]);
        for _ in 0..4_000 {
            capture.push(&[b'.'; 1_000]);
            assert!(capture.tail.len() <= 32 + SLACK);
        }
        capture.push(b"\n1.5\n");
        assert_eq!(capture.text(), format!("firs\n[… {} bytes left out …]\n1.5\n", 6 + 4_000_000 + 5 - 8));
        assert_eq!(capture.searched(), (format!("{}\n1.5\n", ".".repeat(27)), false));
    }

    #[test]
    fn nothing_need_be_kept_for_people() {
        let mut capture = Capture::new(0, 32);
        capture.push(b"3.5\n");
        assert_eq!(capture.text(), "[… 4 bytes left out …]");
        assert_eq!(capture.searched().0, "3.5\n");
    }
}
