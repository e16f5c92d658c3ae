//! What a connection makes of the bytes of its peer.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Wake;

use tokio::io::AsyncWriteExt;
use tokio::time::{Duration, Instant, advance};

use super::*;

const TRAFFIC: &[u8] = concat!(
    "a banner: é\n",
    "\r\n",
    r#"{"jsonrpc":"2.0","method":"update","params":{"text":"ünï 😀"}}"#,
    "\n",
    r#"{"jsonrpc":"2.0","id":"x-1","method":"ask","params":[1, 2]}"#,
    "\r\n",
    r#"  {"result":{"cut":"\ud83d"},"id":0}  "#,
    "\n",
    r#"{"id":0,"result":1}"#,
    "\n",
    r#"{"id":7,"result":1}"#,
    "\n",
    r#"{"method":"last"}"#,
)
.as_bytes();

const HEARD: [&str; 5] = [
    r#"notification update {"text":"ünï 😀"}"#,
    r#"request "x-1" ask [1, 2]"#,
    r#"response 0 {"cut":"\ufffd"}"#,
    "notification last -",
    "closed",
];

const IGNORED: Ignored = Ignored {
    not_json: 1,
    unknown_response: 1,
    repeated_response: 1,
};

fn lines(output: &str, requests: usize) -> (Vec<String>, Ignored) {
    let (mut lines, ignored) = heard(output.as_bytes(), requests, LIMITS);
    assert_eq!(lines.pop().as_deref(), Some("closed"));
    (lines, ignored)
}

/// What one line means to a connection with one open request; nothing when it is ignored.
fn meaning(line: &str) -> Option<String> {
    let (mut lines, _) = lines(&format!("{line}\n"), 1);
    assert!(lines.len() < 2, "{lines:?}");
    lines.pop()
}

fn not_json(line: &[u8]) -> bool {
    let mut output = line.to_vec();
    output.extend_from_slice(b"\n{\"method\":\"after\"}\n");
    let (lines, ignored) = heard(&output, 1, LIMITS);
    lines == ["notification after -", "closed"]
        && ignored
            == Ignored {
                not_json: 1,
                ..Ignored::default()
            }
}

#[test]
fn frames_are_the_same_however_the_bytes_are_cut() {
    for cut in 0..=TRAFFIC.len() {
        let (mut connection, mut peer) = connected(4096, LIMITS);
        connection.request("ask", &()).unwrap();
        let mut got = Vec::new();
        for part in [&TRAFFIC[..cut], &TRAFFIC[cut..]] {
            assert!(matches!(
                poll_once(peer.stdout.write_all(part)),
                Poll::Ready(Ok(()))
            ));
            got.extend(all_now(&mut connection));
        }
        drop(peer.stdout);
        got.extend(all_now(&mut connection));
        assert_eq!(got, HEARD, "cut at {cut}");
        assert_eq!(connection.ignored(), IGNORED, "cut at {cut}");
        assert_eq!(connection.received_bytes(), TRAFFIC.len() as u64);
    }
}

#[test]
fn a_dropped_next_loses_nothing_in_either_direction() {
    let (mut connection, mut peer) = connected(1, LIMITS);
    connection.request("ask", &()).unwrap();
    let (mut got, mut written) = (Vec::new(), Vec::new());
    for byte in TRAFFIC {
        // One byte each way, then a `next` that is polled and dropped.
        assert!(matches!(
            poll_once(peer.stdout.write_all(&[*byte])),
            Poll::Ready(Ok(()))
        ));
        if let Poll::Ready(next) = poll_once(connection.next()) {
            got.push(shown(&next));
        }
        let mut room = [0];
        let mut room = ReadBuf::new(&mut room);
        let _ = Pin::new(&mut peer.stdin).poll_read(&mut Context::from_waker(Waker::noop()), &mut room);
        written.extend_from_slice(room.filled());
    }
    drop(peer.stdout);
    got.extend(all_now(&mut connection));
    assert_eq!(got, HEARD);
    assert_eq!(
        written,
        b"{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"ask\",\"params\":null}\n"
    );
}

#[test]
fn a_frame_of_exactly_the_bound_is_taken_and_one_byte_more_fails() {
    let frame = |length: usize| {
        let mut frame = br#"{"method":"m","params":""#.to_vec();
        frame.resize(length - 2, b'x');
        frame.extend_from_slice(b"\"}");
        frame
    };
    let limits = Limits {
        max_frame_bytes: 100_000,
        ..LIMITS
    };
    for length in [99_999, 100_000] {
        let mut output = frame(length);
        output.push(b'\n');
        assert_eq!(heard(&output, 0, limits).0.len(), 2, "{length} bytes");
    }

    // The bound is passed with the last byte of the frame already: no newline, no end of the stream.
    let (mut connection, mut peer) = connected(200_000, limits);
    let mut output = b"{\"method\":\"before\"}\n".to_vec();
    output.extend_from_slice(&frame(100_001));
    assert!(matches!(
        poll_once(peer.stdout.write_all(&output[..output.len() - 1])),
        Poll::Ready(Ok(()))
    ));
    assert_eq!(all_now(&mut connection), ["notification before -"]);
    assert!(matches!(
        poll_once(peer.stdout.write_all(b"}")),
        Poll::Ready(Ok(()))
    ));
    let failed = "failed: the peer wrote a frame of more than 100000 bytes";
    assert_eq!(all_now(&mut connection), [failed]);
    assert_eq!(all_now(&mut connection), [failed]);
    assert!(matches!(
        connection.notify("m", &()),
        Err(RpcError::FrameTooLong { limit: 100_000 })
    ));
}

#[test]
fn noise_that_passes_the_bound_fails_too() {
    let limits = Limits {
        max_frame_bytes: 10,
        ..LIMITS
    };
    let (lines, ignored) = heard(b"0123456789\n           \n", 0, limits);
    assert_eq!(lines, ["failed: the peer wrote a frame of more than 10 bytes"]);
    assert_eq!(ignored.not_json, 1);
}

#[test]
fn noise_spoils_only_itself() {
    let noise: [&[u8]; 14] = [
        b"Loading model...",
        b"[]",
        b"42",
        b"null",
        b"\"text\"",
        b"{",
        b"{}",
        b"{\"jsonrpc\":\"2.0\"}",
        b"{\"method\":\"m\"} {\"method\":\"n\"}",
        b"[{\"method\":\"batch\"}]",
        b"{\"method\":5,\"id\":1}",
        b"{\"method\":\"m\",\"params\":\"\xff\"}",
        b"{\"method\":\"m\",\"params\":\"\xf0\x9f\x98\"}",
        b"{\"id\":null}",
    ];
    for line in noise {
        assert!(not_json(line), "{}", String::from_utf8_lossy(line));
    }
    assert_eq!(
        lines("\n  \n\r\n\t\n", 0),
        (vec![], Ignored::default()),
        "blank lines do not count"
    );
}

#[test]
fn calls_are_told_apart_by_their_id() {
    for (line, means) in [
        (r#"{"method":"m"}"#, "notification m -"),
        (r#"{"id":null,"method":"m","params":null}"#, "notification m -"),
        (r#"{"id":3,"method":"m","params":{}}"#, "request 3 m {}"),
        (r#"{"method":"m","id":"0"}"#, r#"request "0" m -"#),
        (
            r#"{"id":123456789012345678901234567890,"method":"m"}"#,
            "request 123456789012345678901234567890 m -",
        ),
        (r#"{"id":1.50,"method":"m"}"#, "request 1.50 m -"),
        (r#"{"id":{"a":1},"method":"m"}"#, r#"request {"a":1} m -"#),
        (r#"{"id":0,"method":"m","result":1}"#, "request 0 m -"),
        (
            r#"{"id":1,"id":2,"method":"a","method":"b","params":1,"params":2}"#,
            "request 2 b 2",
        ),
        (
            r#"{"\u006dethod":"a\u002fb\ud83d"}"#,
            "notification a/b\u{fffd} -",
        ),
    ] {
        assert_eq!(meaning(line).as_deref(), Some(means), "{line}");
    }
}

#[test]
fn answers_are_understood_as_far_as_they_can_be() {
    for (line, means) in [
        (r#"{"id":0,"result":{"a":[1]}}"#, r#"response 0 {"a":[1]}"#),
        (r#"{"result":null,"id":0}"#, "response 0 null"),
        (r#"{"id":0}"#, "response 0 null"),
        (r#"{"id":0,"method":null,"result":1}"#, "response 0 1"),
        (r#"{"id":0,"error":null,"result":1}"#, "response 0 1"),
        (r#"{"id":0,"error":null}"#, "response 0 null"),
        (
            r#"{"id":0,"result":1,"error":{"code":-32000,"message":"no"}}"#,
            r#"response 0 error -32000 "no" -"#,
        ),
        (
            r#"{"id":0,"error":{"code":1,"message":"a\nb","data":{"x":1}}}"#,
            r#"response 0 error 1 "a\nb" {"x":1}"#,
        ),
        (
            r#"{"id":0,"error":{"code":1,"code":2,"message":"m"}}"#,
            r#"response 0 error 2 "m" -"#,
        ),
        (r#"{"id":0,"error":{}}"#, r#"response 0 error 0 "" -"#),
        (
            r#"{"id":0,"error":{"code":"-5","message":null}}"#,
            r#"response 0 error -5 "" -"#,
        ),
        (
            r#"{"id":0,"error":{"code":-7.0,"message":{"en":"no"}}}"#,
            r#"response 0 error -7 "{\"en\":\"no\"}" -"#,
        ),
        (
            r#"{"id":0,"error":{"code":"EACCES"}}"#,
            r#"response 0 error 0 "" -"#,
        ),
        (r#"{"id":0,"error":{"code":1e99}}"#, r#"response 0 error 0 "" -"#),
        (
            r#"{"id":0,"error":"it \"broke\""}"#,
            r#"response 0 error 0 "it \"broke\"" -"#,
        ),
        (r#"{"id":0,"error":[1]}"#, r#"response 0 error 0 "" [1]"#),
        (r#"{"id":0,"error":false}"#, r#"response 0 error 0 "" false"#),
    ] {
        assert_eq!(meaning(line).as_deref(), Some(means), "{line}");
    }
}

#[test]
fn answers_that_nobody_waits_for_are_counted() {
    let mut connection = reading(
        Buffered::new(
            concat!(
                r#"{"id":"0","result":1}"#,
                "\n",
                r#"{"id":0.0,"result":1}"#,
                "\n",
                r#"{"id":2,"result":1}"#,
                "\n",
                r#"{"id":null,"error":{"code":-32700}}"#,
                "\n",
                r#"{"result":1}"#,
                "\n",
                r#"{"id":1,"result":"late"}"#,
                "\n",
                r#"{"id":0,"result":1}"#,
                "\n",
                r#"{"id":0,"result":2}"#,
                "\n",
            )
            .as_bytes(),
        ),
        LIMITS,
    );
    connection.request("a", &()).unwrap();
    let second = connection.request("b", &()).unwrap();
    connection.forget(second);
    assert_eq!(all_now(&mut connection), ["response 0 1", "closed"]);
    let expected = Ignored {
        not_json: 0,
        unknown_response: 6,
        repeated_response: 1,
    };
    assert_eq!(connection.ignored(), expected);
}

#[test]
fn depth_neither_fails_nor_overflows() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let output = format!(
        "{{\"extra\":{deep},\"method\":\"m\",\"params\":{deep}}}\n{{\"id\":0,\"error\":{{\"x\":{deep},\"data\":{deep}}}}}\n"
    );
    let (lines, _) = lines(&output, 1);
    assert_eq!(
        lines,
        [
            format!("notification m {deep}"),
            format!("response 0 error 0 \"\" {deep}")
        ]
    );
}

#[derive(Default)]
struct Wakes(AtomicUsize);

impl Wake for Wakes {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn endless_noise_lets_the_runtime_do_something_else() {
    let mut output = b"noise\n".repeat(5000);
    output.extend_from_slice(b"{\"method\":\"m\"}\n");
    let mut connection = reading(Buffered::new(&output[..]), LIMITS);
    let wakes = Arc::new(Wakes::default());
    let called = Waker::from(Arc::clone(&wakes));
    let mut pauses = 0;
    while pin!(connection.next())
        .poll(&mut Context::from_waker(&called))
        .is_pending()
    {
        pauses += 1;
        assert_eq!(wakes.0.load(Ordering::Relaxed), pauses, "it asks to go on");
    }
    assert_eq!(pauses, 4);
    assert_eq!(connection.ignored().not_json, 5000);
}

#[tokio::test(start_paused = true)]
async fn only_well_formed_frames_count_as_a_sign_of_life() {
    let (mut connection, mut peer) = connected(4096, LIMITS);
    let made = Instant::now();
    for (line, counts) in [
        ("noise\n", false),
        ("{}\n", false),
        ("{\"method\":\"m\"}\n", true),
        ("\n", false),
        ("{\"id\":9,\"result\":1}\n", true),
        ("{\"half\":", false),
    ] {
        let before = connection.last_frame_at();
        assert!(before >= made);
        advance(Duration::from_secs(1)).await;
        peer.stdout.write_all(line.as_bytes()).await.unwrap();
        all_now(&mut connection);
        let expected = if counts { Instant::now() } else { before };
        assert_eq!(connection.last_frame_at(), expected, "{line:?}");
    }
}
