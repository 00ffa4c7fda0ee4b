//! An agent's own endpoint: takes what is posted to it, and answers as it is told.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, mpsc};

/// What was posted.
#[derive(Clone, Debug)]
pub(crate) struct Posted {
    pub(crate) path: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Posted {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str())
    }
}

/// A listening endpoint, for as long as the test runs.
pub(crate) struct Endpoint {
    pub(crate) address: SocketAddr,
    posts: mpsc::Receiver<Posted>,
}

impl Endpoint {
    /// Answers each post with the status that `answer` gives, called with what was posted.
    pub(crate) fn new(answer: impl Fn(&Posted) -> u16 + Send + Sync + 'static) -> Endpoint {
        Endpoint::answering(move |posted| Some((answer(posted), String::new())))
    }

    /// Answers each post with the text that `says` gives; with none, never.
    pub(crate) fn saying(says: impl Fn(&Posted) -> Option<String> + Send + Sync + 'static) -> Endpoint {
        Endpoint::answering(move |posted| says(posted).map(|text| (200, text)))
    }

    fn answering(answer: impl Fn(&Posted) -> Option<(u16, String)> + Send + Sync + 'static) -> Endpoint {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (told, posts) = mpsc::channel();
        let answer = Arc::new(answer);
        std::thread::spawn(move || {
            for socket in listener.incoming().map_while(Result::ok) {
                let (told, answer) = (told.clone(), Arc::clone(&answer));
                std::thread::spawn(move || while talk(&socket, &told, &*answer).is_some() {});
            }
        });
        Endpoint { address, posts }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/in", self.address)
    }

    /// The next post; waits for it.
    pub(crate) fn next(&self) -> Posted {
        self.posts.recv().unwrap()
    }
}

/// One request and its answer; nothing once the other side has gone.
fn talk(
    mut socket: &TcpStream,
    told: &mpsc::Sender<Posted>,
    answer: &dyn Fn(&Posted) -> Option<(u16, String)>,
) -> Option<()> {
    let mut reader = BufReader::with_capacity(1, socket);
    let mut line = || {
        let mut text = String::new();
        reader.read_line(&mut text).ok().filter(|read| *read > 0)?;
        Some(text.trim_end().to_owned())
    };
    let path = line()?.split(' ').nth(1)?.to_owned();
    let mut headers = Vec::new();
    while let Some((name, value)) = line()?.split_once(": ") {
        headers.push((name.to_owned(), value.to_owned()));
    }
    let length = headers.iter().find(|(name, _)| name == "content-length").unwrap().1.parse().unwrap();
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let posted = Posted { path, headers, body: String::from_utf8(body).unwrap() };
    // The test may be over.
    let _ = told.send(posted.clone());
    let Some((status, text)) = answer(&posted) else {
        // Until the other side goes.
        let mut rest = Vec::new();
        return reader.read_to_end(&mut rest).ok().and(None);
    };
    let head = format!("HTTP/1.1 {status} x\r\ncontent-length: {}\r\n\r\n", text.len());
    socket.write_all(format!("{head}{text}").as_bytes()).ok()
}
