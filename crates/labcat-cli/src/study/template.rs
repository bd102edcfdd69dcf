//! Text with placeholders: `--x={x}`, `out/{id}.txt`; `{{` and `}}` stand for single braces.

use crate::format::shortened;

/// One piece of a template.
#[derive(Clone, Debug, PartialEq)]
enum Piece {
    Text(String),
    /// The value of the parameter at this index.
    Parameter(usize),
    /// The number of the evaluation.
    Id,
}

/// Text with its placeholders resolved to parameters.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Template(Vec<Piece>);

/// The placeholder that stands for the number of the evaluation.
pub(crate) const ID: &str = "id";

/// What stands before and after the name of a placeholder. Doubled, each stands for itself.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Marks {
    pub(crate) open: String,
    pub(crate) close: String,
}

impl Default for Marks {
    fn default() -> Marks {
        Marks { open: "{".to_owned(), close: "}".to_owned() }
    }
}

impl Template {
    /// Resolves every placeholder against the parameters' names.
    /// The error says what is wrong and what to write instead.
    pub(crate) fn parse(text: &str, names: &[String]) -> Result<Template, String> {
        Template::parse_marked(text, names, &Marks::default())
    }

    /// As [`Template::parse`], with other marks than braces.
    pub(crate) fn parse_marked(text: &str, names: &[String], marks: &Marks) -> Result<Template, String> {
        let Marks { open, close } = marks;
        let (two_open, two_close) = (open.repeat(2), close.repeat(2));
        let mut pieces = Vec::new();
        let mut literal = String::new();
        let mut rest = text;
        while let Some(at) = [open, close].into_iter().filter_map(|mark| rest.find(mark.as_str())).min() {
            literal.push_str(&rest[..at]);
            let tail = &rest[at..];
            if let Some(after) = tail.strip_prefix(&two_open) {
                literal.push_str(open);
                rest = after;
            } else if let Some(after) = tail.strip_prefix(&two_close) {
                literal.push_str(close);
                rest = after;
            } else if let Some(inside) = tail.strip_prefix(open.as_str()) {
                let (name, after) = inside.split_once(close.as_str()).ok_or_else(|| {
                    let text = shortened(text.trim_end());
                    format!("`{open}` is not closed in `{text}`: write `{open}name{close}`, or `{two_open}` for `{open}` itself")
                })?;
                pieces.extend(flush(&mut literal));
                pieces.push(resolve(name, names, marks)?);
                rest = after;
            } else {
                let text = shortened(text.trim_end());
                return Err(format!(
                    "`{close}` without `{open}` in `{text}`: write `{two_close}` for `{close}` itself"
                ));
            }
        }
        literal.push_str(rest);
        pieces.extend(flush(&mut literal));
        Ok(Template(pieces))
    }

    /// Adds what follows.
    pub(crate) fn append(&mut self, other: Template) {
        self.0.extend(other.0);
    }

    /// Whether the text is the same for all evaluations.
    pub(crate) fn is_constant(&self) -> bool {
        self.0.iter().all(|piece| matches!(piece, Piece::Text(_)))
    }

    /// The text, if it is the same for all evaluations.
    pub(crate) fn fill_constant(&self) -> Option<String> {
        self.is_constant().then(|| self.fill(0, &[]))
    }

    /// Whether the text differs from one evaluation to the next by its number.
    pub(crate) fn has_id(&self) -> bool {
        self.0.contains(&Piece::Id)
    }

    /// The indices of the parameters that occur.
    pub(crate) fn parameters(&self) -> impl Iterator<Item = usize> + '_ {
        self.0.iter().filter_map(|piece| match piece {
            Piece::Parameter(index) => Some(*index),
            _ => None,
        })
    }

    /// The text of one evaluation; `values` are the parameters as text.
    pub(crate) fn fill(&self, id: u64, values: &[String]) -> String {
        let mut text = String::new();
        for piece in &self.0 {
            match piece {
                Piece::Text(literal) => text.push_str(literal),
                Piece::Parameter(index) => text.push_str(&values[*index]),
                Piece::Id => text.push_str(&id.to_string()),
            }
        }
        text
    }
}

/// The names inside the braces of `text`, in order of appearance, each once; what `labcat init` makes parameters of.
pub(crate) fn placeholders(text: &str) -> Vec<String> {
    let without_escapes = text.replace("{{", "").replace("}}", "");
    let mut names: Vec<String> = Vec::new();
    for after in without_escapes.split('{').skip(1) {
        if let Some((name, _)) = after.split_once('}')
            && name != ID
            && !names.iter().any(|known| known == name)
        {
            names.push(name.to_owned());
        }
    }
    names
}

fn flush(literal: &mut String) -> Option<Piece> {
    (!literal.is_empty()).then(|| Piece::Text(std::mem::take(literal)))
}

fn resolve(name: &str, names: &[String], Marks { open, close }: &Marks) -> Result<Piece, String> {
    if let Some(index) = names.iter().position(|known| known == name) {
        return Ok(Piece::Parameter(index));
    }
    if name == ID {
        return Ok(Piece::Id);
    }
    let known: Vec<String> =
        names.iter().map(String::as_str).chain([ID]).map(|known| format!("{open}{known}{close}")).collect();
    Err(format!(
        "unknown placeholder `{open}{}{close}`: write one of {}, or `{open}{open}` and `{close}{close}` for `{open}` and `{close}` themselves",
        shortened(name),
        known.join(" ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> Vec<String> {
        vec!["x".into(), "; rm -rf x".into()]
    }

    fn filled(text: &str) -> String {
        Template::parse(text, &names()).unwrap().fill(7, &["1.5".into(), "-2".into()])
    }

    #[test]
    fn fills_placeholders_and_keeps_the_rest() {
        assert_eq!(filled("--x={x}"), "--x=1.5");
        assert_eq!(filled("{x}{; rm -rf x}/{id}.txt"), "1.5-2/7.txt");
        assert_eq!(filled(r#"{{"x": {x}}}"#), r#"{"x": 1.5}"#);
        assert_eq!(filled("é{x}ü"), "é1.5ü");
        assert_eq!(filled(""), "");
    }

    #[test]
    fn other_marks_leave_braces_alone() {
        let marks = Marks { open: "<<".into(), close: ">>".into() };
        let filled =
            |text: &str| Template::parse_marked(text, &names(), &marks).map(|t| t.fill(7, &["1.5".into(), "".into()]));
        assert_eq!(
            filled("solver { tol <<x>>; } // <<<<id>>>> <<id>> a < b").as_deref(),
            Ok("solver { tol 1.5; } // <<id>> 7 a < b")
        );
        assert!(filled("<<y>>").unwrap_err().contains("unknown placeholder `<<y>>`: write one of <<x>>"));
        assert!(filled("<<x").unwrap_err().contains("`<<` is not closed"));
    }

    #[test]
    fn names_what_is_wrong() {
        for (text, part) in [
            ("{y}", "unknown placeholder `{y}`: write one of {x} {; rm -rf x} {id}"),
            ("{x", "is not closed"),
            ("x}", "without `{`"),
            ("{}", "unknown placeholder `{}`"),
        ] {
            let error = Template::parse(text, &names()).unwrap_err();
            assert!(error.contains(part), "{error}");
        }
    }

    #[test]
    fn finds_the_names_of_a_command() {
        assert_eq!(placeholders("--x={x} {y}{x} {{z}} {id}"), ["x", "y"]);
    }
}
