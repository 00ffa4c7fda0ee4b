//! The console's files, as a browser fetches them.

use crate::house::House;

/// The path of the first file of this kind that the page names.
fn asset(house: &House, end: &str) -> String {
    let entered = house.ask("POST", "/signin").form(&format!("token={}", house.operator));
    let cookie = entered.headers["set-cookie"].to_str().unwrap().split(';').next().unwrap().to_owned();
    let page = house.ask("GET", "/").header("cookie", &cookie).get().text;
    let paths = page.split('"').filter(|part| part.starts_with("/assets/"));
    paths.into_iter().find(|path| path.ends_with(end)).unwrap().to_owned()
}

#[test]
fn a_file_is_kept_for_ever_and_asked_for_once() {
    let house = House::open();
    for (end, media) in [(".js", "text/javascript; charset=utf-8"), (".css", "text/css; charset=utf-8")] {
        let path = asset(&house, end);
        let got = house.ask("GET", &path).get();
        let header = |name: &str| got.headers[name].to_str().unwrap().to_owned();
        assert_eq!((got.status, header("content-type")), (200, media.to_owned()));
        assert_eq!(header("cache-control"), "public, max-age=31536000, immutable");
        assert_eq!(
            (header("x-content-type-options"), header("vary")),
            ("nosniff".to_owned(), "accept-encoding".to_owned())
        );
        assert_eq!(header("content-security-policy"), "default-src 'none'; connect-src 'self'");
        let again = house.ask("GET", &path).header("if-none-match", &header("etag")).get();
        assert_eq!((again.status, again.text.as_str()), (304, ""));
        let packed = house.ask("GET", &path).header("accept-encoding", "gzip, br").get();
        assert_eq!(packed.headers["content-encoding"], "br");
        assert!(packed.text.len() < got.text.len() && packed.headers["etag"] != got.headers["etag"]);
    }
}

#[test]
fn nothing_else_is_found_there() {
    let house = House::open();
    for name in ["index.html", "..%2Findex.html", "nothing.js", "%2e%2e%2f%2e%2e%2fpackage.json", "x.js.br", ""] {
        house.ask("GET", format!("/assets/{name}")).get().refused(404, "not_found");
    }
}

#[test]
fn the_page_names_only_what_is_here_and_has_no_script_in_it() {
    let house = House::open();
    let entered = house.ask("POST", "/signin").form(&format!("token={}", house.operator));
    let cookie = entered.headers["set-cookie"].to_str().unwrap().split(';').next().unwrap().to_owned();
    let page = house.ask("GET", "/").header("cookie", &cookie).get().text;
    assert!(!page.contains("http:") && !page.contains("https:") && !page.contains("<style"), "{page}");
    for script in page.split("<script").skip(1) {
        assert!(script.contains("src=\"/assets/") && script.contains("></script>"), "{script}");
    }
}
