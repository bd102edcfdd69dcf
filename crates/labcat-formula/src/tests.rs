use super::*;
use proptest::prelude::*;

fn excess(text: &str, values: &[f64]) -> f64 {
    Formula::parse(text).unwrap().excesses(values)[0]
}

#[test]
fn operators_bind_as_in_mathematics() {
    for (text, x, expected) in [
        ("x + 2*3 <= 0", 1.0, 7.0),
        ("(x + 2)*3 <= 0", 1.0, 9.0),
        ("-x^2 <= 0", 3.0, -9.0),
        ("(-x)^2 <= 0", 3.0, 9.0),
        ("2^3^x <= 0", 2.0, 512.0),
        ("2^-x <= 0", 1.0, 0.5),
        ("2**x <= 0", 3.0, 8.0),
        ("8/x/2 <= 0", 2.0, 2.0),
        ("10 - x - 3 <= 0", 2.0, 5.0),
        ("x*-2 <= 0", 3.0, -6.0),
        ("+x <= 0", 3.0, 3.0),
        ("x >= 5", 3.0, 2.0),
        ("x == 5", 3.0, 2.0),
        ("x ≤ 2·3 − 1", 3.0, -2.0),
        ("1.5e-1*x <= .5", 2.0, -0.2),
        ("max(x, 4, 2) <= min(9, x)", 3.0, 1.0),
        ("sqrt(abs(x)) + exp(0) <= pi", -4.0, 3.0 - std::f64::consts::PI),
        ("log(exp(x)) + log10(1000) + log2(8) <= 0", 1.0, 7.0),
        ("{x} <= 1", 3.0, 2.0),
        ("atan2(x, 0) <= pi/2", 1.0, 0.0),
    ] {
        assert!((excess(text, &[x]) - expected).abs() < 1e-15, "{text}: {}", excess(text, &[x]));
    }
}

#[test]
fn names_are_those_of_the_user() {
    let formula = Formula::parse("{film thickness} + größe_2 * min + {pi} <= {film thickness} * pi").unwrap();
    assert_eq!(formula.names().collect::<Vec<_>>(), ["film thickness", "größe_2", "min", "pi"]);
    assert_eq!(formula.to_string(), "{film thickness} + größe_2 * min + {pi} <= {film thickness} * pi");
}

#[test]
fn a_chain_compares_neighbours() {
    let formula = Formula::parse("0 <= x <= y >= 1").unwrap();
    assert_eq!(formula.excesses(&[2.0, 5.0]), [-2.0, -3.0, -4.0]);
    assert_eq!(formula.comparisons(), ["0 <= x", "x <= y", "y >= 1"]);
    assert_eq!(Formula::parse(" 2*{ö b}≤(x) == 3").unwrap().comparisons(), ["2*{ö b} <= (x)", "(x) == 3"]);
    assert!(!formula.has_equation() && Formula::parse("0 <= x == y").unwrap().has_equation());
}

#[test]
fn what_is_not_a_number_meets_nothing() {
    for text in
        ["sqrt(x) <= 1", "x/0*0 <= 1", "min(sqrt(x), 0) <= 1", "max(0, log(x)) <= 1", "exp(-1000*x) <= exp(-1000*x)"]
    {
        assert!(excess(text, &[-1.0]).is_nan(), "{text}");
    }
}

#[test]
fn errors_point_at_the_column_and_say_what_is_allowed() {
    for (text, column, part) in [
        ("", 1, "a number, a name or ( is expected here, not the end"),
        ("x + 2*y", 8, "it compares nothing: write a limit, as in x + 2*y <= 1"),
        ("x + <= 1", 5, "a number, a name or ( is expected here, not `<=`"),
        ("x < 1", 3, "write <=, >= or ==, not `<`"),
        ("x = 1", 3, "write <=, >= or ==, not `=`"),
        ("x != 1", 3, "write <=, >= or ==, not `!=`"),
        ("x + 2y <= 1", 6, "an operator is missing before `y`: write * for a product"),
        ("x y <= 1", 3, "an operator is missing before `y`"),
        ("(x + 1 <= 2", 8, "the ( of column 1 must be closed before `<=`"),
        ("x + 1) <= 2", 6, "there is no ( for this )"),
        ("max(x, 1 <= 2", 10, "the ( of column 4 must be closed"),
        ("größe $ <= 1", 7, "`$` cannot be part of a formula, which has numbers, names, + - * / ^"),
        ("x; rm <= 1", 2, "`;` cannot be part of a formula"),
        ("sinus(x) <= 1", 1, "there is no function `sinus`; the functions are pow, abs, sqrt"),
        ("sin(x, 2) <= 1", 1, "`sin` takes one number, not 2"),
        ("max(x) <= 1", 1, "`max` takes two numbers or more, not 1"),
        ("pow(x, 2, 3) <= 1", 1, "`pow` takes two numbers, not 3"),
        ("sin() <= x", 5, "a number, a name or ( is expected here, not `)`"),
        ("1e999 <= x", 1, "`1e999` is not a finite number"),
        (". <= x", 1, "`.` is not a finite number"),
        ("{ <= x", 1, "a name in braces is written {any name}"),
        ("{} <= x", 1, "a name in braces is written {any name}"),
        ("1 <= 2", 1, "it names nothing that could vary"),
        ("x <= 1 , 2", 8, "`,` does not belong here"),
    ] {
        let error = Formula::parse(text).unwrap_err();
        assert_eq!(error.column, column, "{text}: {error}");
        assert!(error.message.contains(part), "{text}: {error}");
    }
}

#[test]
fn a_formula_of_any_depth_or_length_is_read_or_refused() {
    let deep = format!("{}x{} <= 1", "(".repeat(100_000), ")".repeat(100_000));
    assert!(Formula::parse(&deep).unwrap_err().message.contains("more than 100 parentheses"));
    assert!(Formula::parse(&format!("{}x <= 1", "-".repeat(100_000))).is_err());
    assert!(Formula::parse(&format!("x{} <= 1", "^x".repeat(100_000))).is_err());
    let long = format!("x{} <= 0", " + x".repeat(100_000));
    assert_eq!(excess(&long, &[1.0]), 100_001.0);
}

/// A formula's side as a tree, with its text and what it computes.
#[derive(Clone, Debug)]
enum Tree {
    Number(f64),
    Name(usize),
    Negate(Box<Tree>),
    Pair(char, Box<Tree>, Box<Tree>),
    Max(Box<Tree>, Box<Tree>),
}

impl Tree {
    fn text(&self) -> String {
        match self {
            Tree::Number(number) => format!("{number:?}"),
            Tree::Name(name) => ["x", "y"][*name].to_owned(),
            Tree::Negate(of) => format!("-({})", of.text()),
            Tree::Pair(operator, left, right) => format!("({}) {operator} ({})", left.text(), right.text()),
            Tree::Max(left, right) => format!("max({}, {})", left.text(), right.text()),
        }
    }

    fn value(&self, values: &[f64]) -> f64 {
        match self {
            Tree::Number(number) => *number,
            Tree::Name(name) => values[*name],
            Tree::Negate(of) => -of.value(values),
            Tree::Pair(operator, left, right) => {
                let (left, right) = (left.value(values), right.value(values));
                match operator {
                    '+' => left + right,
                    '-' => left - right,
                    '*' => left * right,
                    _ => left / right,
                }
            }
            Tree::Max(left, right) => largest(left.value(values), right.value(values)),
        }
    }
}

fn tree() -> impl Strategy<Value = Tree> {
    let leaf = prop_oneof![(0.0..1e3).prop_map(Tree::Number), (0_usize..2).prop_map(Tree::Name)];
    leaf.prop_recursive(6, 40, 2, |inner| {
        prop_oneof![
            inner.clone().prop_map(|of| Tree::Negate(Box::new(of))),
            (prop_oneof![Just('+'), Just('-'), Just('*'), Just('/')], inner.clone(), inner.clone())
                .prop_map(|(operator, left, right)| Tree::Pair(operator, Box::new(left), Box::new(right))),
            (inner.clone(), inner).prop_map(|(left, right)| Tree::Max(Box::new(left), Box::new(right))),
        ]
    })
}

proptest! {
    #[test]
    fn a_formula_computes_what_is_written(tree in tree(), x in -10.0..10.0, y in -10.0..10.0) {
        let formula = Formula::parse(&format!("{} <= x*0 + y*0", tree.text())).unwrap();
        let values: Vec<f64> = formula.names().map(|name| if name == "x" { x } else { y }).collect();
        let (found, expected) = (formula.excesses(&values)[0], tree.value(&[x, y]) - (x * 0.0 + y * 0.0));
        prop_assert!(found == expected || (found.is_nan() && expected.is_nan()), "{}: {found} {expected}", tree.text());
    }

    #[test]
    fn any_text_is_read_or_refused_at_a_column_of_it(text in "[xy0-9+*/^(),<>= {}.e-]{0,20}|.{0,20}") {
        if let Err(error) = Formula::parse(&text) {
            prop_assert!((1..=text.chars().count() + 1).contains(&error.column), "{error}");
            prop_assert!(!error.message.is_empty());
        }
    }

    #[test]
    fn the_linear_part_is_the_formula(a in -5.0..5.0, b in -5.0..5.0, c in -5.0..5.0, x in -2.0..2.0, y in -2.0..2.0) {
        let formula = Formula::parse(&format!("{a:?}*x - (y/4 - {b:?})*2 == {c:?} + x")).unwrap();
        let (factors, constant) = formula.linear(0).unwrap();
        let off: f64 = factors[0] * x + factors[1] * y - constant;
        prop_assert!((off.abs() - formula.excesses(&[x, y])[0]).abs() < 1e-12);
    }
}
