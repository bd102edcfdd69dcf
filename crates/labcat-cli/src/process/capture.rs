//! The output of a program, kept in bounded memory: the first and the last 64 KiB.

/// How much of the beginning, and how much of the end, is kept.
const KEPT: usize = 64 * 1024;

/// What was kept of one stream.
#[derive(Clone, Debug, Default)]
pub(crate) struct Capture {
    head: Vec<u8>,
    tail: Vec<u8>,
    total: u64,
}

impl Capture {
    /// Takes in what the program wrote next.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        let room = KEPT - self.head.len();
        let (first, rest) = bytes.split_at(room.min(bytes.len()));
        self.head.extend_from_slice(first);
        self.tail.extend_from_slice(rest);
        if self.tail.len() > 2 * KEPT {
            self.tail.drain(..self.tail.len() - KEPT);
        }
    }

    /// The last bytes of the stream, at most `KEPT`, or all of it if nothing is left out.
    fn end(&self) -> &[u8] {
        &self.tail[self.tail.len().saturating_sub(KEPT)..]
    }

    fn left_out(&self) -> u64 {
        self.total - (self.head.len() + self.end().len()) as u64
    }

    /// What was kept, with a line that says how much is missing.
    pub(crate) fn text(&self) -> String {
        let left_out = self.left_out();
        if left_out == 0 {
            return String::from_utf8_lossy(&[&self.head, self.end()].concat()).into_owned();
        }
        let (head, end) = (String::from_utf8_lossy(&self.head), String::from_utf8_lossy(self.end()));
        format!("{head}\n[… {left_out} bytes left out …]\n{end}")
    }

    /// The last line that is not blank; `None` if there is none, or if it is too long to be a value.
    pub(crate) fn last_line(&self) -> Option<String> {
        let end = match self.left_out() {
            0 => [&self.head, self.end()].concat(),
            _ => self.end().splitn(2, |byte| *byte == b'\n').nth(1)?.to_vec(),
        };
        let text = String::from_utf8_lossy(&end);
        text.lines().map(str::trim).rfind(|line| !line.is_empty()).map(str::to_owned)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn captured(chunks: &[&[u8]]) -> Capture {
        let mut capture = Capture::default();
        chunks.iter().for_each(|chunk| capture.push(chunk));
        capture
    }

    #[test]
    fn short_output_is_kept_whole() {
        let capture = captured(&[b"one\n", b"two\n \n"]);
        assert_eq!(capture.text(), "one\ntwo\n \n");
        assert_eq!(capture.last_line().as_deref(), Some("two"));
        assert_eq!(captured(&[b" \n\n"]).last_line(), None);
    }

    #[test]
    fn long_output_keeps_both_ends_in_bounded_memory() {
        let mut capture = captured(&[b"first\n"]);
        for _ in 0..2_000 {
            capture.push(&[b'.'; 1_000]);
            assert!(capture.tail.len() <= 2 * KEPT + 1_000);
        }
        capture.push(b"\n1.5\n");
        assert_eq!(capture.last_line().as_deref(), Some("1.5"));
        let text = capture.text();
        assert!(text.starts_with("first\n") && text.ends_with("\n1.5\n"));
        assert!(text.contains(&format!("[… {} bytes left out …]", 6 + 2_000_000 + 5 - 2 * KEPT)));
    }

    #[test]
    fn nothing_is_left_out_up_to_both_ends() {
        let capture = captured(&[&[b'a'; 2 * KEPT - 3], b"\n42"]);
        assert_eq!(capture.left_out(), 0);
        assert_eq!(capture.last_line().as_deref(), Some("42"));
    }

    #[test]
    fn a_line_longer_than_what_is_kept_is_no_value() {
        assert_eq!(captured(&[&[b'1'; 5 * KEPT]]).last_line(), None);
    }
}
