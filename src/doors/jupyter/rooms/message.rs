//! Messages of a room's WebSocket: y-protocols' synchronisation and awareness, and the raw messages of jupyter-collaboration.

use serde_json::Value;

const SYNC: u64 = 0;
const AWARENESS: u64 = 1;
const RAW: u64 = 2;

const STEP_1: u64 = 0;
const STEP_2: u64 = 1;
const UPDATE: u64 = 2;

/// A message of a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SyncMessage {
    /// The client's state vector: it asks for what it lacks.
    Step1(Vec<u8>),
    /// The answer to our state vector: everything that we lacked when it was sent.
    Step2(Vec<u8>),
    /// Changes as they happen.
    Update(Vec<u8>),
    Awareness(Vec<u8>),
    /// Everything is saved already; the client waits for an answer with this number.
    Save(u64),
    /// Message of a later version, which is ignored.
    Other,
}

impl SyncMessage {
    /// Reads a message; `None` if it is malformed.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let mut reader = Lib0Reader(bytes);
        match reader.number()? {
            SYNC => match reader.number()? {
                STEP_1 => Some(Self::Step1(reader.buffer()?.to_vec())),
                STEP_2 => Some(Self::Step2(reader.buffer()?.to_vec())),
                UPDATE => Some(Self::Update(reader.buffer()?.to_vec())),
                _ => Some(Self::Other),
            },
            AWARENESS => Some(Self::Awareness(reader.buffer()?.to_vec())),
            RAW if reader.buffer()? == b"save" => Some(Self::Save(reader.number().unwrap_or_default())),
            _ => Some(Self::Other),
        }
    }
}

fn framed(kinds: &[u64], payload: &[u8]) -> Vec<u8> {
    let mut frame = Vec::with_capacity(payload.len() + 12);
    kinds.iter().for_each(|kind| put_number(&mut frame, *kind));
    put_buffer(&mut frame, payload);
    frame
}

pub fn step_1(state_vector: &[u8]) -> Vec<u8> {
    framed(&[SYNC, STEP_1], state_vector)
}

pub fn step_2(update: &[u8]) -> Vec<u8> {
    framed(&[SYNC, STEP_2], update)
}

pub fn update(update: &[u8]) -> Vec<u8> {
    framed(&[SYNC, UPDATE], update)
}

pub fn awareness(states: &[u8]) -> Vec<u8> {
    framed(&[AWARENESS], states)
}

pub fn raw(message: &Value) -> Vec<u8> {
    framed(&[RAW], message.to_string().as_bytes())
}

pub fn put_number(out: &mut Vec<u8>, mut number: u64) {
    while number > 0x7f {
        out.push((number & 0x7f) as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

pub fn put_buffer(out: &mut Vec<u8>, bytes: &[u8]) {
    put_number(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// Reads lib0's variable-length numbers and buffers.
pub struct Lib0Reader<'a>(pub &'a [u8]);

impl<'a> Lib0Reader<'a> {
    pub fn number(&mut self) -> Option<u64> {
        let mut number = 0_u64;
        for shift in (0..63).step_by(7) {
            let (byte, rest) = self.0.split_first()?;
            self.0 = rest;
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }

    pub fn buffer(&mut self) -> Option<&'a [u8]> {
        let length = usize::try_from(self.number()?).ok()?;
        let (buffer, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(buffer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_written_is_read() {
        assert_eq!(SyncMessage::read(&step_1(b"sv")), Some(SyncMessage::Step1(b"sv".to_vec())));
        assert_eq!(SyncMessage::read(&step_2(&[7; 300])), Some(SyncMessage::Step2(vec![7; 300])));
        assert_eq!(SyncMessage::read(&update(b"u")), Some(SyncMessage::Update(b"u".to_vec())));
        assert_eq!(SyncMessage::read(&awareness(b"a")), Some(SyncMessage::Awareness(b"a".to_vec())));
        let mut save = framed(&[RAW], b"save");
        put_number(&mut save, 300);
        assert_eq!(SyncMessage::read(&save), Some(SyncMessage::Save(300)));
        assert_eq!(SyncMessage::read(&raw(&json!({"type": "other"}))), Some(SyncMessage::Other));
    }

    #[test]
    fn malformed_messages_are_refused() {
        for bytes in [&[][..], &[0], &[0, 0, 200], &[0, 2, 5, 1], &[0xff; 20]] {
            assert_eq!(SyncMessage::read(bytes), None, "{bytes:?}");
        }
    }
}
