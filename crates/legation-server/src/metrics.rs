//! `GET /metrics`: what the exchange counts, in the text form Prometheus reads. Labels are dialects, codes
//! and statuses: words of ours, never anything that was sent.

use crate::caller::Caller;
use crate::guest::Guest;
use crate::refusal::Refusal;
use crate::shared::Shared;
use crate::tls::Tls;
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use legation_engine::Histogram;
use legation_protocol::Code;
use std::fmt::{Display, Write as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Answers by the first digit of their status.
#[derive(Debug, Default)]
pub(crate) struct Answers([AtomicU64; 5]);

impl Answers {
    pub(crate) fn count(&self, status: StatusCode) {
        if let Some(count) = self.0.get(usize::from(status.as_u16() / 100).wrapping_sub(1)) {
            count.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// `GET /metrics`: for this machine, and for those who may see everything.
pub(crate) async fn metrics(
    State(shared): State<Arc<Shared>>,
    guest: Guest,
    caller: Caller,
) -> Result<Response, Refusal> {
    if !guest.source.local && !caller.0.sees_all() {
        caller.must_be_somebody()?;
        return Err(Refusal::because(Code::NotAllowed, "this is for operators and auditors"));
    }
    Ok(([(CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], text(&shared)).into_response())
}

fn text(shared: &Shared) -> String {
    let mut page = Page::default();
    exchange(&mut page, shared);
    record(&mut page, shared);
    doors(&mut page, shared);
    if let Some(tls) = &shared.tls {
        certificate(&mut page, tls);
    }
    page.gauge("process_start_time_seconds", "When the process started.", shared.started.as_secs());
    page.head("legation_build_info", "gauge", "What runs here.");
    page.sample("legation_build_info", &[("version", env!("CARGO_PKG_VERSION"))], 1);
    page.0
}

fn exchange(page: &mut Page, shared: &Shared) {
    let stats = shared.exchange.stats();
    page.times("legation_accept_seconds", "From a message to its durable answer.", &stats.answered);
    page.head("legation_verdicts_total", "counter", "Verdicts on messages.");
    for counted in stats.verdicts() {
        let dialect = counted.dialect.map_or("unknown", legation_protocol::Format::as_str);
        page.sample("legation_verdicts_total", &[("dialect", dialect), ("verdict", counted.verdict)], counted.count);
    }
    page.head("legation_push_attempts_total", "counter", "Attempts to bring messages to endpoints.");
    for (fate, count) in stats.pushes() {
        page.sample("legation_push_attempts_total", &[("fate", fate)], count);
    }
    page.head("legation_scan_findings_total", "counter", "What the scan found in texts.");
    for (severity, count) in stats.findings() {
        page.sample("legation_scan_findings_total", &[("severity", severity)], count);
    }
    let scans = u8::from(shared.exchange.scanning().is_running());
    page.gauge("legation_scan_running", "1 while texts are scanned, by patterns that work.", scans);
    let waiting = shared.exchange.waiting();
    page.gauge("legation_mailboxes", "Mailboxes.", waiting.mailboxes);
    page.gauge("legation_mailbox_messages", "Messages waiting in all mailboxes.", waiting.total);
    page.gauge("legation_mailbox_messages_largest", "Messages in the fullest mailbox.", waiting.largest);
    page.gauge("legation_queue_depth", "Inputs waiting to be decided.", shared.exchange.queued());
}

fn record(page: &mut Page, shared: &Shared) {
    let stats = shared.exchange.stats();
    page.sizes("legation_commit_batch_size", "Inputs committed together.", &stats.batches);
    page.times("legation_fsync_seconds", "Making a batch durable.", &stats.syncs);
    page.gauge("legation_record_entries", "Entries of the record.", shared.exchange.head().size);
    let epoch = shared.exchange.epochs().last().map_or(1, |epoch| epoch.epoch);
    page.gauge("legation_record_epoch", "How often the record was restored from a copy, from 1.", epoch);
    let ahead = "Seconds that the record's clock is ahead of the machine's.";
    page.gauge("legation_clock_ahead_seconds", ahead, stats.clock_difference().ahead_seconds());
    page.gauge("legation_index_lag", "Entries that cannot be found yet.", shared.exchange.index_lag());
    let (_, kept) = shared.exchange.retention();
    let before = "Position before which texts were dropped.";
    page.gauge("legation_bodies_dropped_before", before, kept.dropped_before);
    if let Some(bytes) = kept.bytes {
        page.gauge("legation_bodies_bytes", "Bytes of texts kept in complete segments.", bytes);
    }
    let (erased, pending) = shared.exchange.erased();
    page.gauge("legation_erased_messages", "Messages that were ever erased.", erased);
    page.gauge("legation_erased_pending", "Those that may still be on the disk.", pending);
    page.gauge("legation_record_full", "1 when the record found no room.", u8::from(stats.is_full()));
}

fn doors(page: &mut Page, shared: &Shared) {
    let visits = &shared.visits;
    page.gauge("legation_connections_open", "Open connections.", visits.open());
    page.gauge("legation_connections_unproven", "Those on which nobody has proven anything.", visits.unproven());
    let turned_away = "legation_connections_turned_away_total";
    page.head(turned_away, "counter", "Connections there was no room for.");
    page.sample(turned_away, &[], visits.turned_away());
    let closed = "legation_connections_closed_for_room_total";
    page.head(closed, "counter", "Connections that were closed to make room for others.");
    page.sample(closed, &[], visits.closed());
    page.gauge("legation_answers_unread_bytes", "Bytes of answers that nobody has read.", shared.unread.bytes());
    sockets(page, shared);
    handshakes(page, shared);
    page.head("legation_rate_limited_total", "counter", "Requests refused by the limits of a source.");
    page.sample("legation_rate_limited_total", &[], shared.sources.limited());
    page.head("legation_http_responses_total", "counter", "Answers by status.");
    for (count, status) in shared.answers.0.iter().zip(["1xx", "2xx", "3xx", "4xx", "5xx"]) {
        page.sample("legation_http_responses_total", &[("status", status)], count.load(Ordering::Relaxed));
    }
}

fn certificate(page: &mut Page, tls: &Tls) {
    page.gauge("legation_tls_expires_seconds", "When the certificate ends, since 1970.", tls.expires().as_secs());
    let stale = "1 when the files of the certificate could not be used and an older one is.";
    page.gauge("legation_tls_stale", stale, u8::from(tls.is_stale()));
    let failed = "legation_tls_handshakes_failed_total";
    page.head(failed, "counter", "Connections that came to no agreement on TLS.");
    page.sample(failed, &[], tls.failures());
}

fn sockets(page: &mut Page, shared: &Shared) {
    let sockets = &shared.sockets;
    page.gauge("legation_websockets_open", "Open WebSockets that are somebody's.", sockets.open());
    let names = ["frames_read_total", "frames_written_total", "context_missing_total"];
    let helps = ["Frames read.", "Frames written.", "Sockets that began with something else than a context."];
    for ((name, help), count) in names.into_iter().zip(helps).zip(sockets.counted()) {
        let name = format!("legation_websocket_{name}");
        page.head(&name, "counter", help);
        page.sample(&name, &[], count);
    }
    page.head("legation_websocket_closes_total", "counter", "WebSockets that ended, by code.");
    for (code, count) in sockets.closes().iter() {
        page.sample("legation_websocket_closes_total", &[("code", code)], count);
    }
}

fn handshakes(page: &mut Page, shared: &Shared) {
    page.head("legation_hellos_total", "counter", "Handshakes by what they came to.");
    for (outcome, count) in shared.handshakes.outcomes() {
        page.sample("legation_hellos_total", &[("outcome", outcome)], count);
    }
    page.head("legation_sessions_negotiated", "gauge", "Negotiated sessions that are open.");
    for (door, count) in shared.handshakes.negotiated() {
        page.sample("legation_sessions_negotiated", &[("door", door)], count);
    }
}

/// The page in the making.
#[derive(Default)]
struct Page(String);

impl Page {
    fn head(&mut self, name: &str, kind: &str, help: &str) {
        // Writing to a string does not fail.
        let _ = writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}");
    }

    fn sample(&mut self, name: &str, labels: &[(&str, &str)], value: impl Display) {
        let labels: Vec<_> = labels.iter().map(|(label, value)| format!("{label}=\"{value}\"")).collect();
        let labels = if labels.is_empty() { String::new() } else { format!("{{{}}}", labels.join(",")) };
        let _ = writeln!(self.0, "{name}{labels} {value}");
    }

    fn gauge(&mut self, name: &str, help: &str, value: impl Display) {
        self.head(name, "gauge", help);
        self.sample(name, &[], value);
    }

    /// A histogram of microseconds, told in seconds.
    fn times(&mut self, name: &str, help: &str, values: &Histogram) {
        self.histogram(name, help, values, |micros| Duration::from_micros(micros).as_secs_f64().to_string());
    }

    fn sizes(&mut self, name: &str, help: &str, values: &Histogram) {
        self.histogram(name, help, values, |size| size.to_string());
    }

    fn histogram(&mut self, name: &str, help: &str, values: &Histogram, told: impl Fn(u64) -> String) {
        self.head(name, "histogram", help);
        let bucket = format!("{name}_bucket");
        // Read once before the buckets, so that none of them can exceed it.
        let (sum, mut last) = (values.sum(), 0);
        for (bound, count) in values.below() {
            self.sample(&bucket, &[("le", &told(bound))], count);
            last = count;
        }
        let total = values.total().max(last);
        self.sample(&bucket, &[("le", "+Inf")], total);
        self.sample(&format!("{name}_sum"), &[], told(sum));
        self.sample(&format!("{name}_count"), &[], total);
    }
}
