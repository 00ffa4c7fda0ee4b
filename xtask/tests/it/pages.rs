//! The documents that must stay complete.

use crate::root;
use legation_protocol::Code;
use legation_protocol::cap::ErrorCode;
use std::collections::BTreeSet;
use std::fs;

#[test]
fn every_code_has_a_page_and_every_page_a_code() {
    let folder = root().join("docs/errors");
    let pages: BTreeSet<_> = fs::read_dir(&folder)
        .unwrap()
        .map(|file| file.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned())
        .collect();
    let codes: BTreeSet<_> = Code::ALL.iter().map(|code| code.as_str().to_owned()).collect();
    assert_eq!(pages, codes, "docs/errors/ and the codes differ");
    for code in Code::ALL {
        let page = fs::read_to_string(folder.join(format!("{code}.md"))).unwrap();
        assert!(page.starts_with(&format!("# {code}\n")), "the page of {code} has another title");
    }
}

#[test]
fn the_index_of_errors_names_every_code() {
    let index = fs::read_to_string(root().join("docs/errors.md")).unwrap();
    for code in Code::ALL {
        assert!(index.contains(&format!("(errors/{code}.md)")), "docs/errors.md does not link {code}");
    }
}

#[test]
fn the_guide_has_what_to_do_about_every_error() {
    let guide = fs::read_to_string(root().join("docs/guides/tasks.md")).unwrap();
    for code in ErrorCode::LISTED {
        let remedy = format!("{:?}", code.remedy().unwrap()).to_lowercase();
        let row = format!("| {} | {} | {remedy} |", code.number(), code.meaning().unwrap());
        assert!(guide.contains(&row), "docs/guides/tasks.md lacks {row}");
    }
}

/// Every fixture and every test that `docs/conformance.md` cites is there.
#[test]
fn the_conformance_table_cites_what_is_there() {
    let table = fs::read_to_string(root().join("docs/conformance.md")).unwrap();
    let quoted: BTreeSet<_> = table.lines().flat_map(|line| line.split('`').skip(1).step_by(2)).collect();
    let fixtures: Vec<_> = quoted.iter().filter(|text| text.starts_with("spec/")).collect();
    let tests: Vec<_> = quoted.iter().filter_map(|text| text.split_once(".rs: ")).collect();
    assert!(fixtures.len() > 400 && tests.len() > 80, "{} fixtures, {} tests", fixtures.len(), tests.len());
    let mut missing: Vec<_> =
        fixtures.into_iter().filter(|path| !fixture_exists(path)).map(|p| (*p).to_owned()).collect();
    let cited = tests.into_iter().filter(|(file, name)| !test_exists(file, name));
    missing.extend(cited.map(|(file, name)| format!("{file}.rs: {name}")));
    assert!(missing.is_empty(), "docs/conformance.md cites what is not there: {missing:#?}");
}

/// How many rows `docs/attacks.md` has.
const ATTACKS: usize = 164;

/// Every row is there, in its order, and every test that one cites.
#[test]
fn the_table_of_attacks_is_whole_and_cites_what_is_there() {
    let table = fs::read_to_string(root().join("docs/attacks.md")).unwrap();
    let rows: Vec<Vec<_>> = table.lines().map(|line| line.split('|').map(str::trim).collect::<Vec<_>>()).collect();
    let rows: Vec<_> = rows.iter().filter(|cells| cells.len() == 6 && cells[1].parse::<usize>().is_ok()).collect();
    let numbers: Vec<usize> = rows.iter().map(|cells| cells[1].parse().unwrap()).collect();
    assert_eq!(numbers, (1..=ATTACKS).collect::<Vec<_>>());
    for cells in rows {
        let cited: Vec<_> = cells[4].split('`').skip(1).step_by(2).collect();
        assert!(!cited.is_empty(), "row {} cites no test", cells[1]);
        let missing: Vec<_> = cited.into_iter().filter(|cited| !attack_exists(cited)).collect();
        assert!(missing.is_empty(), "row {} cites what is not there: {missing:#?}", cells[1]);
    }
}

/// A test of ours below `crates/`, or one of the console's, by file and name.
fn attack_exists(cited: &str) -> bool {
    let Some((file, name)) = cited.split_once(": ") else { return false };
    let (path, opens) = match file.strip_suffix(".mjs") {
        Some(_) => (root().join(file), format!("test(\"{name}\"")),
        None => (root().join("crates").join(file), format!("fn {name}(")),
    };
    fs::read_to_string(path).unwrap_or_default().contains(&opens)
}

/// A path below `spec/`, in which `*` stands for anything.
fn fixture_exists(path: &str) -> bool {
    let (folder, name) = path.rsplit_once('/').unwrap();
    let parts: Vec<_> = name.split('*').collect();
    let fits = |name: &str| {
        let found = parts.iter().try_fold(name, |rest, part| rest.find(part).map(|at| &rest[at + part.len()..]));
        found.is_some() && name.starts_with(parts[0])
    };
    let mut files = fs::read_dir(root().join(folder)).into_iter().flatten();
    files.any(|file| fits(&file.unwrap().file_name().into_string().unwrap()))
}

fn test_exists(file: &str, name: &str) -> bool {
    let rooms = ["crates/legation-protocol/src", "crates/legation-protocol", "crates/legation", "."];
    rooms.iter().any(|room| {
        let text = fs::read_to_string(root().join(room).join(format!("{file}.rs"))).unwrap_or_default();
        text.contains(&format!("fn {name}("))
    })
}
