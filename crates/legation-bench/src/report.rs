//! What was measured, for people and for programs.

use crate::Scenario;
use serde::Serialize;
use std::fmt;

/// Everything a run found out.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// Cores of the machine, which clients and servers share.
    pub cores: usize,
    /// What was measured.
    pub rows: Vec<Row>,
}

/// One thing measured.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// Where it belongs.
    pub scenario: Scenario,
    /// What it is.
    pub measured: String,
    /// What the exchange does.
    pub legation: Amount,
    /// What it is compared with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub against: Option<Against>,
    /// The exchange's figure by the other.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ratio: Option<f64>,
    /// What we hold ourselves to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bound: Option<Bound>,
    /// Both figures of every round, ours first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rounds: Vec<(f64, f64)>,
}

/// A figure.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Amount {
    /// Messages a second.
    PerSecond(f64),
    /// Time.
    Seconds(f64),
    /// Memory.
    Mebibytes(f64),
    /// Little memory.
    Kibibytes(f64),
}

/// What a figure is compared with.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Against {
    /// Its name.
    pub name: &'static str,
    /// Its figure.
    pub amount: Amount,
}

/// What we hold ourselves to, and whether this run did.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Bound {
    /// In words.
    pub asked: String,
    /// Whether it held.
    pub held: bool,
}

impl Report {
    pub(crate) fn new(rows: Vec<Row>) -> Report {
        Report { cores: std::thread::available_parallelism().map_or(1, usize::from), rows }
    }
}

impl Row {
    /// A figure that stands alone.
    pub(crate) fn alone(scenario: Scenario, measured: impl Into<String>, legation: Amount) -> Row {
        let measured = measured.into();
        Row { scenario, measured, legation, against: None, ratio: None, bound: None, rounds: Vec::new() }
    }

    /// A time or a size that should stay below another.
    pub(crate) fn at_most(self, most: Amount, how: &str) -> Row {
        let asked = if how.is_empty() { format!("≤ {most}") } else { format!("≤ {most} ({how})") };
        let held = self.legation.number() <= most.number();
        Row { bound: Some(Bound { asked, held }), ..self }
    }
}

impl Amount {
    fn number(self) -> f64 {
        match self {
            Amount::PerSecond(number)
            | Amount::Seconds(number)
            | Amount::Mebibytes(number)
            | Amount::Kibibytes(number) => number,
        }
    }
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Amount::PerSecond(number) => write!(f, "{number:.0}/s"),
            Amount::Seconds(number) if number < 1e-4 => write!(f, "{:.1} µs", number * 1e6),
            Amount::Seconds(number) if number < 1.0 => write!(f, "{:.2} ms", number * 1e3),
            Amount::Seconds(number) => write!(f, "{number:.2} s"),
            Amount::Mebibytes(number) => write!(f, "{number:.0} MiB"),
            Amount::Kibibytes(number) => write!(f, "{number:.1} KiB"),
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let head = ["", "measured", "legation", "against", "", "ratio", "bound", ""].map(str::to_owned);
        let rows: Vec<_> = std::iter::once(head).chain(self.rows.iter().map(Row::cells)).collect();
        let width =
            |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max();
        for row in &rows {
            let cells = row.iter().enumerate().map(|(column, cell)| {
                let width = width(column).unwrap_or_default();
                if [2, 4, 5].contains(&column) { format!("{cell:>width$}") } else { format!("{cell:width$}") }
            });
            writeln!(f, "{}", cells.collect::<Vec<_>>().join("  ").trim_end())?;
        }
        Ok(())
    }
}

impl Row {
    fn cells(&self) -> [String; 8] {
        let name = match self.scenario {
            Scenario::Accept => "accept",
            Scenario::Nats => "nats",
            Scenario::Latency => "latency",
            Scenario::Scale => "scale",
            Scenario::Push => "push",
            Scenario::Ws => "ws",
            Scenario::Sockets => "sockets",
            Scenario::Alarms => "alarms",
            Scenario::Strangers => "strangers",
            Scenario::Mcp => "mcp",
            Scenario::Fairness => "fairness",
        };
        let against = self.against.as_ref();
        let bound = self.bound.as_ref();
        [
            name.to_owned(),
            self.measured.clone(),
            self.legation.to_string(),
            against.map(|against| against.name.to_owned()).unwrap_or_default(),
            against.map(|against| against.amount.to_string()).unwrap_or_default(),
            self.ratio.map(|ratio| format!("{ratio:.2}")).unwrap_or_default(),
            bound.map(|bound| bound.asked.clone()).unwrap_or_default(),
            bound.map(|bound| if bound.held { "held" } else { "missed" }.to_owned()).unwrap_or_default(),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::{Amount, Report, Row};
    use crate::Scenario;
    use crate::rounds::Rounds;

    #[test]
    fn a_report_is_a_table_with_what_was_missed() {
        let mut rounds = Rounds::default();
        for (ours, theirs) in [(60.0, 100.0), (80.0, 100.0), (99.0, 100.0)] {
            rounds.add(ours, theirs);
        }
        let compared = rounds.row(Scenario::Accept, "signed", "bare handler", 0.7);
        let alone = Row::alone(Scenario::Scale, "start", Amount::Seconds(4.0)).at_most(Amount::Seconds(3.0), "");
        let text = Report { cores: 2, rows: vec![compared, alone] }.to_string();
        let want = "\
        \u{20}       measured  legation  against              ratio  bound
accept  signed        80/s  bare handler  100/s   0.80  ≥ 0.70    held
scale   start       4.00 s                              ≤ 3.00 s  missed
";
        assert_eq!(text, want);
    }
}
