//! The token that a program must send to change a study.

use std::fs::File;
use std::hint::black_box;
use std::io::Read;

use crate::failure::Failure;

/// The variable that has the token if the command line does not: what stands there is not seen by other users.
const VARIABLE: &str = "LABCAT_TOKEN";
/// Shorter ones could be guessed.
const LEAST: usize = 16;

/// A secret of the server and of those who may change its studies.
pub(super) struct Token {
    text: String,
    /// Generated here, so it has to be printed.
    new: bool,
}

impl Token {
    /// The one that is given, or that the environment has; else a new one.
    pub(super) fn new(given: Option<&str>) -> Result<Token, Failure> {
        let text = given.map(str::to_owned).or_else(|| std::env::var(VARIABLE).ok());
        let new = text.is_none();
        let text = text.map_or_else(random, Ok)?;
        if text.len() < LEAST || !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(Failure::usage(format!(
                "the token of {} characters is refused: write at least {LEAST} letters, digits and signs, without blanks; without \
                 --token and {VARIABLE} one is made",
                text.chars().count()
            )));
        }
        Ok(Token { text, new })
    }

    /// A line for the person who starts the server.
    pub(super) fn in_words(&self) -> String {
        match self.new {
            true => format!("token: {}", self.text),
            false => "token: the one you gave".to_owned(),
        }
    }

    /// Takes as long whatever was shown: how much of it is right cannot be told by the time.
    pub(super) fn is(&self, shown: &str) -> bool {
        let (known, shown) = (self.text.as_bytes(), shown.as_bytes());
        let mut differences = known.len() ^ shown.len();
        for (k, byte) in known.iter().enumerate() {
            differences |= usize::from(byte ^ shown.get(k).copied().unwrap_or_default());
        }
        black_box(differences) == 0
    }
}

/// 128 random bits of the operating system, as text.
fn random() -> Result<String, Failure> {
    let mut bytes = [0; 16];
    let read = File::open("/dev/urandom").and_then(|mut source| source.read_exact(&mut bytes));
    read.map_err(|error| Failure::run(format!("cannot make a token: {error}; choose one with --token")))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_whole_token_is_right() {
        let token = Token::new(Some("0123456789abcdef")).unwrap();
        assert!(token.is("0123456789abcdef"));
        for wrong in ["", "0", "0123456789abcde", "0123456789abcdef0", "0123456789abcdeg", "x123456789abcdef"] {
            assert!(!token.is(wrong), "{wrong}");
        }
        for refused in ["", "short", "0123456789 abcdef", "0123456789abcdeé"] {
            assert!(Token::new(Some(refused)).err().unwrap().message.contains("at least 16"), "{refused}");
        }
    }

    #[test]
    fn no_two_tokens_are_the_same() {
        assert_ne!(random().unwrap(), random().unwrap());
        assert_eq!(random().unwrap().len(), 32);
    }
}
