//! Parses text into a [`Formula`], or says what is wrong with it and where.

use super::{
    ADD, DIVIDE, FUNCTIONS, Formula, FormulaError, MULTIPLY, NEGATE, Name, POWER, RULES, Rule, SUBTRACT, Step,
};

/// Expressions within each other: a parenthesis or a sign makes one or two of them, and more are a mistake.
const DEEPEST: usize = 200;

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

/// Every symbol, the longer of those with the same beginning first, and others that stand for some of them.
const SYMBOLS: [&str; 15] = ["<=", ">=", "==", "<", ">", "!=", "=", "^", "*", "/", "+", "-", "(", ")", ","];
const SAME: [(&str, &str); 6] = [("≤", "<="), ("≥", ">="), ("**", "^"), ("·", "*"), ("×", "*"), ("−", "-")];

/// The operators between two numbers: how closely they bind, and what they compute. A sign binds as closely as a product, and what stands
/// to the right of a power as closely as a sign.
const OPERATORS: [(&str, usize, usize); 5] =
    [("+", 1, ADD), ("-", 1, SUBTRACT), ("*", 2, MULTIPLY), ("/", 2, DIVIDE), ("^", 3, POWER)];

fn wrong<T>(column: usize, message: impl Into<String>) -> Result<T, FormulaError> {
    Err(FormulaError { column, message: message.into() })
}

/// All functions, in words.
fn functions() -> String {
    RULES[FUNCTIONS].iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ")
}

/// Reads a formula.
pub(super) fn formula(text: &str) -> Result<Formula, FormulaError> {
    let mut parser = Parser { tokens: tokens(text)?, at: 0, depth: 0, names: Vec::new(), side: Vec::new() };
    let (mut sides, mut comparisons, mut texts, mut start) = (Vec::new(), Vec::new(), Vec::new(), 0);
    loop {
        parser.expression(0)?;
        sides.push(std::mem::take(&mut parser.side));
        let Token { column, start: end, kind } = parser.next();
        texts.push(text[start..end].trim_start_matches(['<', '>', '=', '≤', '≥']).trim());
        start = end;
        let shown = shown(&kind);
        match kind {
            Kind::Symbol(symbol @ ("<=" | ">=" | "==")) => comparisons.push(symbol),
            Kind::Symbol("<" | ">" | "=" | "!=") => {
                return wrong(column, format!("write <=, >= or ==, not {shown}"));
            }
            Kind::End if comparisons.is_empty() => {
                return wrong(column, "it compares nothing: write a limit, as in x + 2*y <= 1");
            }
            Kind::End => break,
            Kind::Symbol(")") => return wrong(column, "there is no ( for this )"),
            Kind::Symbol(_) => return wrong(column, format!("{shown} does not belong here")),
            _ => return wrong(column, format!("an operator is missing before {shown}: write * for a product")),
        }
    }
    if parser.names.is_empty() {
        return wrong(1, "it names nothing that could vary: write a limit, as in x + 2*y <= 1");
    }
    let part = |(k, symbol)| format!("{} {symbol} {}", texts[k], texts[k + 1]);
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
        let mut symbols = SAME.into_iter().chain(SYMBOLS.map(|symbol| (symbol, symbol)));
        let (length, kind) = if first.is_whitespace() {
            (first.len_utf8(), None)
        } else if let Some((written, symbol)) = symbols.find(|(written, _)| rest.starts_with(written)) {
            (written.len(), Some(Kind::Symbol(symbol)))
        } else if first.is_ascii_digit() || first == '.' {
            let length = number_length(rest);
            match rest[..length].parse::<f64>() {
                Ok(number) if number.is_finite() => (length, Some(Kind::Number(number))),
                _ => return wrong(column, format!("`{}` is not a finite number", &rest[..length])),
            }
        } else if first == '{' || first == '}' {
            match rest.find('}') {
                Some(end) if end > 1 => (end + 1, Some(Kind::Quoted(rest[1..end].to_owned()))),
                _ => return wrong(column, "a name in braces is written {any name}"),
            }
        } else if first.is_alphabetic() || first == '_' {
            let length = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
            (length, Some(Kind::Name(rest[..length].to_owned())))
        } else {
            let allowed = "numbers, names, + - * / ^, parentheses, <=, >=, == and the functions";
            return wrong(
                column,
                format!("`{first}` cannot be part of a formula, which has {allowed} {}", functions()),
            );
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
    let digits = |from: usize| from + text[from..].bytes().take_while(u8::is_ascii_digit).count();
    let whole = digits(0);
    let end = if text[whole..].starts_with('.') { digits(whole + 1) } else { whole };
    let exponent = text[end..].strip_prefix(['e', 'E']).map(|rest| rest.strip_prefix(['+', '-']).unwrap_or(rest));
    let power = exponent.filter(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    power.map_or(end, |rest| digits(text.len() - rest.len()))
}

/// Precedence climbing; what was read becomes steps of the side that is being read.
struct Parser {
    tokens: Vec<Token>,
    at: usize,
    depth: usize,
    names: Vec<Name>,
    side: Vec<Step>,
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

    /// An operand, and the operators after it that bind more closely than `than`, with theirs.
    fn expression(&mut self, than: usize) -> Result<(), FormulaError> {
        self.depth += 1;
        if self.depth > DEEPEST {
            let column = self.next().column;
            return wrong(column, format!("more than {} parentheses or signs are within each other", DEEPEST / 2));
        }
        self.operand()?;
        let binary = |kind: &Kind| OPERATORS.into_iter().find(|(symbol, ..)| *kind == Kind::Symbol(symbol));
        while let Some((_, binds, rule)) = binary(self.peek()).filter(|(_, binds, _)| *binds > than) {
            self.next();
            self.expression(if rule == POWER { binds - 1 } else { binds })?;
            self.side.push(Step::Apply(rule));
        }
        self.depth -= 1;
        Ok(())
    }

    fn operand(&mut self) -> Result<(), FormulaError> {
        let Token { column, kind, .. } = self.next();
        match kind {
            Kind::Symbol("-") => {
                self.expression(2)?;
                self.side.push(Step::Apply(NEGATE));
            }
            Kind::Symbol("+") => self.expression(2)?,
            Kind::Number(number) => self.side.push(Step::Number(number)),
            Kind::Name(name) if *self.peek() == Kind::Symbol("(") => self.call(&name, column)?,
            Kind::Name(name) if name == "pi" => self.side.push(Step::Number(std::f64::consts::PI)),
            Kind::Name(name) | Kind::Quoted(name) => self.name(name, column),
            Kind::Symbol("(") => {
                self.expression(0)?;
                self.close(column)?;
            }
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
                wrong(here, format!("the ( of column {column} must be closed before {}", shown(&kind)))
            }
        }
    }

    fn call(&mut self, name: &str, column: usize) -> Result<(), FormulaError> {
        let Some(k) = FUNCTIONS.into_iter().find(|&k| RULES[k].0 == name) else {
            return wrong(
                column,
                format!("there is no function `{name}`; the functions are {}; write a product with *", functions()),
            );
        };
        let open = self.next().column;
        let (takes, words) = match RULES[k].1 {
            Rule::One(_) => (1..=1, "one number"),
            Rule::Two(_) => (2..=2, "two numbers"),
            Rule::Many(_) => (2..=usize::MAX, "two numbers or more"),
        };
        let mut arguments = 0;
        loop {
            self.expression(0)?;
            arguments += 1;
            if arguments >= *takes.start() {
                self.side.push(Step::Apply(k));
            }
            if *self.peek() != Kind::Symbol(",") {
                break;
            }
            self.next();
        }
        self.close(open)?;
        if takes.contains(&arguments) {
            return Ok(());
        }
        wrong(column, format!("`{name}` takes {words}, not {arguments}"))
    }
}
