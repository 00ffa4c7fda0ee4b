//! The documents that must stay complete.

use crate::root;
use legation_protocol::Code;
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

/// Every fixture that `docs/conformance.md` cites exists, and so does every test.
#[test]
fn the_conformance_table_cites_what_is_there() {
    let table = fs::read_to_string(root().join("docs/conformance.md")).unwrap();
    let cited: Vec<_> = table.split('`').skip(1).step_by(2).filter(|text| text.starts_with("spec/")).collect();
    assert!(cited.len() > 100, "hardly anything is cited");
    for path in cited {
        assert!(root().join(path).exists(), "docs/conformance.md cites {path}, which is not there");
    }
}
