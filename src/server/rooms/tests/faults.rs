//! Faults of the program, planted in a room.

use notarium_sync::Caller;

use super::*;

#[tokio::test]
async fn a_fault_ends_one_room_and_the_notebook_goes_on_in_another() {
    let bench = bench(RoomConfig::default());
    let (room, other) = (bench.rooms.open(&id()), bench.rooms.open(&"other".parse().unwrap()));
    let (outbox, mut receiver) = Outbox::new(100, 1 << 20);
    let client = bench.rooms.connect(outbox);
    room.run(command("1", CREATE)).await.unwrap();
    let elsewhere =
        CommandMessage::new("1".parse().unwrap(), "other".parse().unwrap(), RawJson::parse(CREATE).unwrap());
    other.run(elsewhere).await.unwrap();
    room.send(client.id, subscribe());
    until(&mut receiver, |message| matches!(message, ServerMessage::Subscribed(_)).then_some(())).await;
    for number in 0..2 {
        // The room's task gives the answer to this reader, and panics. The command with it gets no answer.
        let read = Input::Read { identity: anna(), caller: Caller::new(|_| panic!("a planted fault")) };
        room.send_through(|inbox| &inbox.messages, read.into());
        let failed = room.run(command(&format!("with{number}"), INSERT)).await;
        assert_eq!(failed.unwrap_err().code, RejectionCode::Unavailable);
        // Commands sent before the next room opens are answered by that room.
        let insert = r#"{"InsertCell":{"cell_type":"code"}}"#;
        room.run(command(&format!("after{number}"), insert)).await.unwrap();
    }
    assert_eq!(room.read(anna()).await.unwrap().notebook.version, 3);
    assert!(!receiver.recv_many(&mut Vec::new()).await, "who followed is cut off, and connects again");
    assert_eq!(other.read(anna()).await.unwrap().notebook.version, 1);
    bench.rooms.shut_down().await;
}
