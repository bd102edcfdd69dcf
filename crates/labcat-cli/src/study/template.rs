//! Text with placeholders: `--x={x}`, `out/{id}.txt`; `{{` and `}}` stand for single braces.

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
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Template(Vec<Piece>);

/// The placeholder that stands for the number of the evaluation.
pub(crate) const ID: &str = "id";

impl Template {
    /// Resolves every placeholder against the parameters' names.
    /// The error says what is wrong and what to write instead.
    pub(crate) fn parse(text: &str, names: &[String]) -> Result<Template, String> {
        let mut pieces = Vec::new();
        let mut literal = String::new();
        let mut rest = text;
        while let Some(at) = rest.find(['{', '}']) {
            literal.push_str(&rest[..at]);
            let tail = &rest[at..];
            if let Some(after) = tail.strip_prefix("{{") {
                literal.push('{');
                rest = after;
            } else if let Some(after) = tail.strip_prefix("}}") {
                literal.push('}');
                rest = after;
            } else if tail.starts_with('}') {
                return Err(format!("`}}` without `{{` in `{text}`: write `}}}}` for a single brace"));
            } else {
                let end = tail.find('}').ok_or_else(|| {
                    format!("`{{` is not closed in `{text}`: write `{{name}}`, or `{{{{` for a single brace")
                })?;
                pieces.extend(flush(&mut literal));
                pieces.push(resolve(&tail[1..end], names)?);
                rest = &tail[end + 1..];
            }
        }
        literal.push_str(rest);
        pieces.extend(flush(&mut literal));
        Ok(Template(pieces))
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

fn resolve(name: &str, names: &[String]) -> Result<Piece, String> {
    if let Some(index) = names.iter().position(|known| known == name) {
        return Ok(Piece::Parameter(index));
    }
    if name == ID {
        return Ok(Piece::Id);
    }
    let known: Vec<String> = names.iter().map(|n| format!("{{{n}}}")).chain([format!("{{{ID}}}")]).collect();
    Err(format!(
        "unknown placeholder `{{{name}}}`: write one of {}, or `{{{{` and `}}}}` for single braces",
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
