//! What a connection writes, and what becomes of a peer that does not read.

use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::*;

async fn read_line(peer: &mut Peer) -> String {
    let mut line = Vec::new();
    loop {
        match peer.stdin.read_u8().await.unwrap() {
            b'\n' => return String::from_utf8(line).unwrap(),
            byte => line.push(byte),
        }
    }
}

#[tokio::test]
async fn every_kind_of_frame_is_one_line_in_order() {
    let (mut connection, mut peer) = connected(4096, LIMITS);
    peer.stdout
        .write_all(b"{\"id\":\"a\\u0000\",\"method\":\"m\"}\n{\"id\":1e2,\"method\":\"m\"}\n")
        .await
        .unwrap();
    let mut ids = Vec::new();
    for _ in 0..2 {
        let Incoming::Request { id, .. } = connection.next().await.unwrap() else {
            panic!("expected a request")
        };
        ids.push(id);
    }
    assert_eq!(
        connection
            .request("one", &json!({"text": "a\nb"}))
            .unwrap()
            .to_string(),
        "0"
    );
    connection.notify("two", &json!([])).unwrap();
    connection.reply(&ids[0], &json!(null)).unwrap();
    connection.reject(&ids[1], -32601, "method not found").unwrap();
    assert_eq!(connection.request("three", "text").unwrap().to_string(), "1");
    connection.flush().await.unwrap();
    connection.close_input();

    let mut written = String::new();
    peer.stdin.read_to_string(&mut written).await.unwrap();
    assert_eq!(
        written,
        concat!(
            r#"{"jsonrpc":"2.0","id":0,"method":"one","params":{"text":"a\nb"}}"#,
            "\n",
            r#"{"jsonrpc":"2.0","method":"two","params":[]}"#,
            "\n",
            r#"{"jsonrpc":"2.0","id":"a\u0000","result":null}"#,
            "\n",
            r#"{"jsonrpc":"2.0","id":1e2,"error":{"code":-32601,"message":"method not found"}}"#,
            "\n",
            r#"{"jsonrpc":"2.0","id":1,"method":"three","params":"text"}"#,
            "\n",
        )
    );
}

#[tokio::test]
async fn reading_goes_on_while_the_peer_does_not_read() {
    let (mut connection, mut peer) = connected(16, LIMITS);
    connection.request("ask", &"x".repeat(1000)).unwrap();
    for number in 0..100 {
        let line = format!("{{\"method\":\"m{number}\"}}\n");
        let (next, written) = tokio::join!(connection.next(), peer.stdout.write_all(line.as_bytes()));
        written.unwrap();
        assert_eq!(shown(&next), format!("notification m{number} -"));
    }
}

#[tokio::test]
async fn writing_goes_on_while_the_peer_is_silent() {
    let (mut connection, mut peer) = connected(16, LIMITS);
    connection.request("ask", &"x".repeat(1000)).unwrap();
    connection.request("ask", &"y").unwrap();
    let (next, ()) = tokio::join!(connection.next(), async {
        let long = format!(
            r#"{{"jsonrpc":"2.0","id":0,"method":"ask","params":"{}"}}"#,
            "x".repeat(1000)
        );
        assert_eq!(read_line(&mut peer).await, long);
        assert_eq!(
            read_line(&mut peer).await,
            r#"{"jsonrpc":"2.0","id":1,"method":"ask","params":"y"}"#
        );
        peer.stdout.write_all(b"{\"id\":1}\n").await.unwrap();
    });
    assert_eq!(shown(&next), "response 1 null");
}

#[test]
fn the_bound_of_the_queue_fails_the_connection() {
    let (mut connection, mut peer) = connected(16, LIMITS);
    assert!(matches!(
        poll_once(peer.stdout.write_all(b"{\"method\":\"m\"}\n")),
        Poll::Ready(Ok(()))
    ));
    connection.request("ask", &"x".repeat(5000)).unwrap();
    assert!(poll_once(connection.flush()).is_pending());
    let frame = |length: usize| "x".repeat(length - r#"{"jsonrpc":"2.0","method":"m","params":""}_"#.len());
    connection.notify("m", &frame(900)).unwrap();
    connection
        .notify("m", &frame(124))
        .expect("exactly the bound may wait");
    let failed = "more than 1024 bytes wait for a peer that does not read";
    assert_eq!(connection.notify("m", &()).unwrap_err().to_string(), failed);
    assert_eq!(connection.request("ask", &()).unwrap_err().to_string(), failed);
    assert_eq!(
        all_now(&mut connection),
        [format!("failed: {failed}")],
        "at once, whatever can be read"
    );
}

#[test]
fn what_has_no_json_form_harms_nothing_else() {
    let (mut connection, _peer) = connected(4096, LIMITS);
    let odd = std::collections::HashMap::from([(vec![1], 1)]);
    assert!(matches!(
        connection.request("ask", &odd),
        Err(RpcError::Encode(_))
    ));
    assert_eq!(
        connection.request("ask", &()).unwrap().to_string(),
        "0",
        "the id was not used up"
    );
    assert!(matches!(poll_once(connection.flush()), Poll::Ready(Ok(()))));
}

#[tokio::test]
async fn a_writer_that_holds_back_is_flushed() {
    let (writer, mut stdin) = duplex(4096);
    let writer = tokio::io::BufWriter::new(writer);
    let mut connection = Connection::new(Buffered::new(tokio::io::empty()), writer, LIMITS);
    connection.notify("m", &()).unwrap();
    connection.flush().await.unwrap();
    let mut first = [0; 9];
    stdin.read_exact(&mut first).await.unwrap();
    assert_eq!(&first, b"{\"jsonrpc");
}

#[test]
fn a_dropped_flush_loses_nothing() {
    let (mut connection, mut peer) = connected(1, LIMITS);
    connection.notify("one", &()).unwrap();
    connection.notify("two", &()).unwrap();
    let mut written = Vec::new();
    let mut read = |peer: &mut Peer| match poll_once(peer.stdin.read_u8()) {
        Poll::Ready(Ok(byte)) => written.push(byte),
        other => panic!("expected a byte, not {other:?}"),
    };
    while poll_once(connection.flush()).is_pending() {
        read(&mut peer);
    }
    read(&mut peer);
    assert_eq!(
        String::from_utf8(written).unwrap(),
        concat!(
            r#"{"jsonrpc":"2.0","method":"one","params":null}"#,
            "\n",
            r#"{"jsonrpc":"2.0","method":"two","params":null}"#,
            "\n",
        )
    );
}

#[tokio::test]
async fn a_closed_input_drops_what_waits_and_takes_no_more() {
    let (mut connection, mut peer) = connected(32, LIMITS);
    connection.request("ask", &"x".repeat(1000)).unwrap();
    assert!(poll_once(connection.flush()).is_pending());
    connection.close_input();
    connection.close_input();
    let mut written = Vec::new();
    peer.stdin.read_to_end(&mut written).await.unwrap();
    assert_eq!(written.len(), 32);
    assert!(matches!(connection.notify("m", &()), Err(RpcError::Closed)));
    assert!(matches!(poll_once(connection.flush()), Poll::Ready(Ok(()))));
    peer.stdout.write_all(b"{\"id\":0,\"result\":1}\n").await.unwrap();
    assert_eq!(all_now(&mut connection), ["response 0 1"], "reading goes on");
}

#[tokio::test]
async fn an_owner_hears_when_everything_is_written() {
    let (mut connection, mut peer) = connected(32, LIMITS);
    assert!(connection.is_drained());
    connection.notify("m", &"x".repeat(100)).unwrap();
    let mut drained = Box::pin(connection.drained());
    assert!(!connection.is_drained() && poll_once(&mut drained).is_pending());
    let mut written = [0; 32];
    while !connection.is_drained() {
        assert!(poll_once(&mut drained).is_pending());
        assert!(poll_once(connection.next()).is_pending(), "the writing is next's");
        let _ = peer.stdin.read(&mut written).await.unwrap();
    }
    assert!(poll_once(&mut drained).is_ready());
    connection.notify("m", &"x".repeat(100)).unwrap();
    connection.close_input();
    assert!(connection.is_drained() && poll_once(connection.drained()).is_ready());
}
