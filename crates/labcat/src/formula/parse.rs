//! From text to a [`Formula`], or to what is wrong with it and where.

use super::{Comparison, FUNCTIONS, Formula, FormulaError, Name, POWER, Rule, Side, Step};

/// Parentheses and signs within each other: more are a mistake.
const DEEPEST: usize = 100;

/// A piece of a formula, and where it begins: the column, in characters from 1, and the byte.
#[derive(Clone, Debug, PartialEq)]
struct Token {
    column: usize,
    start: usize,
    kind: Kind,
}

#[derive(Clone, Debug, PartialEq)]
enum Kind {
    Number(f64),
    Name(String),
    /// A name in braces: nothing but a name, whatever it is.
    Quoted(String),
    Symbol(&'static str),
    End,
}

/// Every symbol, the longer of those with the same beginning first, and what it stands for.
const SYMBOLS: [(&str, &str); 22] = [
    ("<=", "<="),
    ("≤", "<="),
    (">=", ">="),
    ("≥", ">="),
    ("==", "=="),
    ("<", "<"),
    (">", ">"),
    ("!=", "!="),
    ("=", "="),
    ("**", "^"),
    ("^", "^"),
    ("*", "*"),
    ("·", "*"),
    ("×", "*"),
    ("/", "/"),
    ("+", "+"),
    ("-", "-"),
    ("−", "-"),
    ("(", "("),
    (")", ")"),
    (",", ","),
    ("}", "}"),
];

fn wrong<T>(column: usize, message: impl Into<String>) -> Result<T, FormulaError> {
    Err(FormulaError { column, message: message.into() })
}

/// All functions, in words.
fn functions() -> String {
    FUNCTIONS.map(|(name, _)| name).join(", ")
}

/// Reads a formula.
pub(super) fn formula(text: &str) -> Result<Formula, FormulaError> {
    let mut parser = Parser { tokens: tokens(text)?, at: 0, depth: 0, names: Vec::new(), side: Vec::new() };
    let (mut sides, mut comparisons, mut texts, mut start) = (Vec::new(), Vec::new(), Vec::new(), 0);
    loop {
        parser.sum()?;
        sides.push(std::mem::take(&mut parser.side));
        let Token { column, start: end, kind } = parser.next();
        texts.push(text[start..end].trim_start_matches(['<', '>', '=', '≤', '≥']).trim());
        start = end;
        comparisons.push(match kind {
            Kind::Symbol("<=") => Comparison::AtMost,
            Kind::Symbol(">=") => Comparison::AtLeast,
            Kind::Symbol("==") => Comparison::Equal,
            Kind::Symbol("<" | ">" | "=" | "!=") => {
                return wrong(column, format!("a limit is met or not: write <=, >= or ==, not {}", shown(&kind)));
            }
            Kind::End if comparisons.is_empty() => {
                return wrong(column, "it compares nothing: write a limit, as in x + 2*y <= 1");
            }
            Kind::End => break,
            Kind::Symbol(")") => return wrong(column, "there is no ( for this )"),
            Kind::Symbol(_) => return wrong(column, format!("{} does not belong here", shown(&kind))),
            Kind::Number(_) | Kind::Name(_) | Kind::Quoted(_) => {
                let operator = "an operator is missing before";
                return wrong(column, format!("{operator} {}: write * for a product", shown(&kind)));
            }
        });
    }
    if parser.names.is_empty() {
        return wrong(1, "it names nothing that could vary: write a limit, as in x + 2*y <= 1");
    }
    let symbol = |comparison: &Comparison| match comparison {
        Comparison::AtMost => "<=",
        Comparison::AtLeast => ">=",
        Comparison::Equal => "==",
    };
    let part = |(k, comparison)| format!("{} {} {}", texts[k], symbol(comparison), texts[k + 1]);
    let parts = comparisons.iter().enumerate().map(part).collect();
    Ok(Formula { text: text.trim().to_owned(), names: parser.names, parts, sides, comparisons })
}

/// A token in words.
fn shown(kind: &Kind) -> String {
    match kind {
        Kind::Number(number) => format!("`{number}`"),
        Kind::Name(name) => format!("`{name}`"),
        Kind::Quoted(name) => format!("`{{{name}}}`"),
        Kind::Symbol(symbol) => format!("`{symbol}`"),
        Kind::End => "the end".to_owned(),
    }
}

fn tokens(text: &str) -> Result<Vec<Token>, FormulaError> {
    let mut tokens = Vec::new();
    let (mut rest, mut column) = (text, 1);
    let begins = |rest: &str| text.len() - rest.len();
    while let Some(first) = rest.chars().next() {
        let (length, kind) = if first.is_whitespace() {
            (first.len_utf8(), None)
        } else if let Some((written, symbol)) = SYMBOLS.iter().find(|(written, _)| rest.starts_with(written)) {
            (written.len(), Some(Kind::Symbol(symbol)))
        } else if first.is_ascii_digit() || first == '.' {
            let length = number_length(rest);
            match rest[..length].parse::<f64>() {
                Ok(number) if number.is_finite() => (length, Some(Kind::Number(number))),
                _ => return wrong(column, format!("`{}` is not a finite number", &rest[..length])),
            }
        } else if first == '{' {
            match rest.find('}') {
                Some(end) if end > 1 => (end + 1, Some(Kind::Quoted(rest[1..end].to_owned()))),
                _ => return wrong(column, "a name in braces is written {any name}"),
            }
        } else if first.is_alphabetic() || first == '_' {
            let length = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
            (length, Some(Kind::Name(rest[..length].to_owned())))
        } else {
            let allowed = "numbers, names, + - * / ^, parentheses, <=, >=, == and the functions";
            return wrong(column, format!("`{first}` is no part of a formula, which has {allowed} {}", functions()));
        };
        tokens.extend(kind.map(|kind| Token { column, start: begins(rest), kind }));
        column += rest[..length].chars().count();
        rest = &rest[length..];
    }
    tokens.push(Token { column, start: text.len(), kind: Kind::End });
    Ok(tokens)
}

/// How many bytes of the text, which begins with a digit or a point, are a decimal number.
fn number_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let digits = |from: usize| from + bytes[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let mut end = digits(0);
    if bytes.get(end) == Some(&b'.') {
        end = digits(end + 1);
    }
    if let Some(b'e' | b'E') = bytes.get(end) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        let exponent = digits(end + 1 + sign);
        if exponent > end + 1 + sign {
            end = exponent;
        }
    }
    end
}

/// Recursive descent; what was read becomes steps of the side that is being read.
struct Parser {
    tokens: Vec<Token>,
    at: usize,
    depth: usize,
    names: Vec<Name>,
    side: Side,
}

impl Parser {
    fn peek(&self) -> &Kind {
        self.tokens.get(self.at).map_or(&Kind::End, |token| &token.kind)
    }

    /// The next token, the end again and again.
    fn next(&mut self) -> Token {
        let token = self.tokens[self.at.min(self.tokens.len() - 1)].clone();
        self.at += 1;
        token
    }

    /// Takes one of the symbols, if it comes next.
    fn take(&mut self, symbols: &[(&'static str, Step)]) -> Option<Step> {
        let step = symbols.iter().find(|(symbol, _)| *self.peek() == Kind::Symbol(symbol)).map(|(_, step)| *step)?;
        self.at += 1;
        Some(step)
    }

    fn sum(&mut self) -> Result<(), FormulaError> {
        self.product()?;
        while let Some(step) = self.take(&[("+", Step::Add), ("-", Step::Subtract)]) {
            self.product()?;
            self.side.push(step);
        }
        Ok(())
    }

    fn product(&mut self) -> Result<(), FormulaError> {
        self.signed()?;
        while let Some(step) = self.take(&[("*", Step::Multiply), ("/", Step::Divide)]) {
            self.signed()?;
            self.side.push(step);
        }
        Ok(())
    }

    fn signed(&mut self) -> Result<(), FormulaError> {
        self.depth += 1;
        if self.depth > DEEPEST {
            let column = self.next().column;
            return wrong(column, format!("more than {DEEPEST} parentheses or signs are within each other"));
        }
        match self.peek() {
            Kind::Symbol("-") => {
                self.next();
                self.signed()?;
                self.side.push(Step::Negate);
            }
            Kind::Symbol("+") => {
                self.next();
                self.signed()?;
            }
            _ => self.power()?,
        }
        self.depth -= 1;
        Ok(())
    }

    fn power(&mut self) -> Result<(), FormulaError> {
        self.atom()?;
        if let Some(step) = self.take(&[("^", Step::Two(POWER))]) {
            self.signed()?;
            self.side.push(step);
        }
        Ok(())
    }

    fn atom(&mut self) -> Result<(), FormulaError> {
        let Token { column, kind, .. } = self.next();
        match kind {
            Kind::Number(number) => self.side.push(Step::Number(number)),
            Kind::Name(name) if *self.peek() == Kind::Symbol("(") => self.call(&name, column)?,
            Kind::Name(name) if name == "pi" => self.side.push(Step::Number(std::f64::consts::PI)),
            Kind::Name(name) | Kind::Quoted(name) => self.name(name, column),
            Kind::Symbol("(") => {
                self.sum()?;
                self.close(column)?;
            }
            Kind::Symbol("{" | "}") => return wrong(column, "a name in braces is written {any name}"),
            other => {
                let expected = "a number, a name or ( is expected here";
                return wrong(column, format!("{expected}, not {}", shown(&other)));
            }
        }
        Ok(())
    }

    fn name(&mut self, name: String, column: usize) {
        let place = self.names.iter().position(|known| known.name == name).unwrap_or_else(|| {
            self.names.push(Name { name, column });
            self.names.len() - 1
        });
        self.side.push(Step::Value(place));
    }

    /// The ) of the ( at `column`.
    fn close(&mut self, column: usize) -> Result<(), FormulaError> {
        match self.next() {
            Token { kind: Kind::Symbol(")"), .. } => Ok(()),
            Token { column: here, kind, .. } => {
                wrong(here, format!("the ( of column {column} is to be closed before {}", shown(&kind)))
            }
        }
    }

    fn call(&mut self, name: &str, column: usize) -> Result<(), FormulaError> {
        let Some(k) = FUNCTIONS.iter().position(|(known, _)| *known == name) else {
            return wrong(column, format!("there is no function `{name}`: there are {}; a product has *", functions()));
        };
        let open = self.next().column;
        let mut arguments = 0;
        loop {
            self.sum()?;
            arguments += 1;
            match (FUNCTIONS[k].1, arguments) {
                (Rule::One(_), 1) => self.side.push(Step::One(k)),
                (Rule::Two(_) | Rule::Many(_), 2..) => self.side.push(Step::Two(k)),
                _ => {}
            }
            if *self.peek() != Kind::Symbol(",") {
                break;
            }
            self.next();
        }
        self.close(open)?;
        let (right, takes) = match FUNCTIONS[k].1 {
            Rule::One(_) => (arguments == 1, "one number"),
            Rule::Two(_) => (arguments == 2, "two numbers"),
            Rule::Many(_) => (arguments >= 2, "two numbers or more"),
        };
        if right { Ok(()) } else { wrong(column, format!("`{name}` takes {takes}, not {arguments}")) }
    }
}
