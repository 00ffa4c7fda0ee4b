//! An authority of our own, and somebody who trusts it.

use legation_server::TlsFiles;
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned, SupportedProtocolVersion, crypto};
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::Arc;

pub(crate) struct Authority {
    issuer: Issuer<'static, KeyPair>,
    root: CertificateDer<'static>,
}

pub(crate) type Stream = StreamOwned<ClientConnection, TcpStream>;

impl Authority {
    pub(crate) fn new() -> Authority {
        let (key, mut params) = (KeyPair::generate().unwrap(), CertificateParams::new(Vec::new()).unwrap());
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let root = params.self_signed(&key).unwrap().der().clone();
        Authority { issuer: Issuer::new(params, key), root }
    }

    /// Writes a fresh certificate for these names into a folder.
    pub(crate) fn issue(&self, folder: &Path, names: &[&str]) -> TlsFiles {
        self.issue_with(folder, names, |_| {})
    }

    pub(crate) fn issue_with(&self, folder: &Path, names: &[&str], change: fn(&mut CertificateParams)) -> TlsFiles {
        let names: Vec<_> = names.iter().map(|name| (*name).to_owned()).collect();
        let (key, mut params) = (KeyPair::generate().unwrap(), CertificateParams::new(names).unwrap());
        change(&mut params);
        let cert = params.signed_by(&key, &self.issuer).unwrap();
        let files = TlsFiles { cert: folder.join("tls.crt"), key: folder.join("tls.key") };
        fs::write(&files.cert, cert.pem()).unwrap();
        // The mode is that of a file that is there already.
        fs::write(&files.key, "").unwrap();
        fs::set_permissions(&files.key, fs::Permissions::from_mode(0o600)).unwrap();
        fs::write(&files.key, key.serialize_pem()).unwrap();
        files
    }

    /// A connection of somebody who trusts this authority and calls the other side by this name.
    pub(crate) fn connect(&self, address: SocketAddr, name: &str) -> Result<Stream, std::io::Error> {
        self.connect_by(address, name, rustls::ALL_VERSIONS, &[b"http/1.1"])
    }

    pub(crate) fn connect_by(
        &self,
        address: SocketAddr,
        name: &str,
        versions: &[&'static SupportedProtocolVersion],
        protocols: &[&[u8]],
    ) -> Result<Stream, std::io::Error> {
        let mut roots = RootCertStore::empty();
        roots.add(self.root.clone()).unwrap();
        let provider = Arc::new(crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider).with_protocol_versions(versions).unwrap();
        let mut config = config.with_root_certificates(roots).with_no_client_auth();
        config.alpn_protocols = protocols.iter().map(|protocol| protocol.to_vec()).collect();
        let name = ServerName::try_from(name.to_owned()).unwrap();
        let client = ClientConnection::new(Arc::new(config), name).unwrap();
        let mut stream = StreamOwned::new(client, TcpStream::connect(address)?);
        while stream.conn.is_handshaking() {
            stream.conn.complete_io(&mut stream.sock)?;
        }
        Ok(stream)
    }
}

/// Asks for a path and gives back the head and body of the answer; the connection stays open.
pub(crate) fn get(stream: &mut Stream, host: &str, path: &str) -> String {
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n").unwrap();
    let (mut all, mut byte) = (Vec::new(), [0]);
    while !all.ends_with(b"\r\n\r\n") {
        stream.read_exact(&mut byte).unwrap();
        all.push(byte[0]);
    }
    let head = String::from_utf8(all).unwrap().to_ascii_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap().parse().unwrap();
    let mut body = vec![0; length];
    stream.read_exact(&mut body).unwrap();
    head + &String::from_utf8(body).unwrap()
}

/// The certificate the other side has shown.
pub(crate) fn shown(stream: &Stream) -> Vec<u8> {
    stream.conn.peer_certificates().unwrap()[0].to_vec()
}
