//! Records as Parquet: one row an event, for DuckDB, pandas, polars and Spark.
//!
//! Purpose: analysis. The record itself is JSON Lines: a row has the same values, and not the bytes that were hashed in one piece.
//!
//! Columns (schema 1, also in the file's metadata as `notarium.schema`): the envelope, `payload` as JSON text in the schema in which it was
//! written, digests as 32 bytes; and decoded from payloads of runs, calls and cells: `cell_id`, `execution_id`, `call_id`, `function`, `outcome`
//! (of runs and calls). Times are in milliseconds, UTC.
//!
//! This crate must never read a clock, wait, or know HTTP.

#![warn(missing_docs)]

use std::io::{self, Write};
use std::sync::Arc;

use notarium_record::{Actor, Stored};
use parquet::basic::{Compression, ZstdLevel};
use parquet::column::writer::ColumnWriter;
use parquet::data_type::{ByteArray, FixedLenByteArray};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use serde_json::Value;

/// Columns in their order; [`Columns::push`] and [`Columns::write`] follow it.
const SCHEMA: &str = "message event {
    REQUIRED BYTE_ARRAY notebook_id (UTF8);
    REQUIRED INT64 version;
    REQUIRED BYTE_ARRAY event_id (UTF8);
    REQUIRED BYTE_ARRAY type (UTF8);
    REQUIRED INT32 schema;
    REQUIRED INT64 recorded_at (TIMESTAMP(MILLIS,true));
    REQUIRED BYTE_ARRAY actor_kind (UTF8);
    OPTIONAL BYTE_ARRAY actor_id (UTF8);
    OPTIONAL BYTE_ARRAY conversation_id (UTF8);
    REQUIRED BYTE_ARRAY command_id (UTF8);
    REQUIRED BYTE_ARRAY correlation_id (UTF8);
    OPTIONAL BYTE_ARRAY causation_id (UTF8);
    OPTIONAL BYTE_ARRAY undoes (UTF8);
    REQUIRED BYTE_ARRAY payload (JSON);
    OPTIONAL BYTE_ARRAY salt (UTF8);
    REQUIRED FIXED_LEN_BYTE_ARRAY(32) payload_digest;
    REQUIRED FIXED_LEN_BYTE_ARRAY(32) hash;
    OPTIONAL BYTE_ARRAY cell_id (UTF8);
    OPTIONAL BYTE_ARRAY execution_id (UTF8);
    OPTIONAL BYTE_ARRAY call_id (UTF8);
    OPTIONAL BYTE_ARRAY function (UTF8);
    OPTIONAL BYTE_ARRAY outcome (UTF8);
}";

/// Rows, and bytes of payloads, at which a group of rows is written: the memory that a writer takes.
const GROUP_ROWS: usize = 100_000;
const GROUP_BYTES: usize = 32 << 20;

/// Writes events as rows of a Parquet file.
pub struct RecordRows<W: Write + Send> {
    writer: SerializedFileWriter<W>,
    columns: Columns,
}

impl<W: Write + Send> RecordRows<W> {
    /// Begins a file.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn new(out: W) -> io::Result<Self> {
        let schema = parse_message_type(SCHEMA).map_err(io::Error::other)?;
        let level = ZstdLevel::try_new(3).map_err(io::Error::other)?;
        let about = vec![KeyValue::new("notarium.schema".to_owned(), "1".to_owned())];
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(level))
            .set_created_by("notarium".to_owned())
            .set_key_value_metadata(Some(about))
            .build();
        let writer = SerializedFileWriter::new(out, Arc::new(schema), Arc::new(properties)).map_err(io_error)?;
        Ok(Self { writer, columns: Columns::default() })
    }

    /// Adds a row.
    ///
    /// # Errors
    /// Those of the file.
    pub fn write(&mut self, stored: &Stored) -> io::Result<()> {
        self.columns.push(stored);
        let is_full = self.columns.rows() >= GROUP_ROWS || self.columns.payload_bytes >= GROUP_BYTES;
        if is_full { self.write_group() } else { Ok(()) }
    }

    fn write_group(&mut self) -> io::Result<()> {
        let columns = std::mem::take(&mut self.columns);
        if columns.rows() == 0 {
            return Ok(());
        }
        columns.write(&mut self.writer).map_err(io_error)
    }

    /// Writes what is left, and the end of the file; returns what was given to `new`.
    ///
    /// # Errors
    /// Those of the file.
    pub fn finish(mut self) -> io::Result<W> {
        self.write_group()?;
        self.writer.into_inner().map_err(io_error)
    }
}

fn io_error(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(error) => match error.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(error) => io::Error::other(error),
        },
        error => io::Error::other(error),
    }
}

/// A column of texts, of which some may be absent.
#[derive(Default)]
struct TextColumn {
    values: Vec<ByteArray>,
    /// 1 where there is a value, else 0.
    levels: Vec<i16>,
}

impl TextColumn {
    fn push(&mut self, text: Option<&str>) {
        self.levels.push(i16::from(text.is_some()));
        self.values.extend(text.map(ByteArray::from));
    }
}

/// Rows that are not written yet.
#[derive(Default)]
struct Columns {
    required: [Vec<ByteArray>; 7],
    optional: [TextColumn; 10],
    versions: Vec<i64>,
    schemas: Vec<i32>,
    times: Vec<i64>,
    digests: Vec<FixedLenByteArray>,
    hashes: Vec<FixedLenByteArray>,
    payload_bytes: usize,
}

/// Values of a payload that have columns.
struct Decoded {
    cell_id: Option<String>,
    execution_id: Option<String>,
    call_id: Option<String>,
    function: Option<String>,
    outcome: Option<String>,
}

impl Decoded {
    fn of(stored: &Stored) -> Self {
        let payload: Value = serde_json::from_str(stored.payload.get()).unwrap_or_default();
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let outcome = match stored.envelope.event_type.as_str() {
            "ExecutionCompleted" => text(&payload["outcome"]),
            "ToolCallExecuted" => text(&payload["end"]),
            _ => None,
        };
        let cell_id = text(&payload["cell_id"]).or_else(|| text(&payload["subject"]["cell_id"]));
        let execution_id = text(&payload["execution_id"]);
        let (call_id, function) = (text(&payload["call_id"]), text(&payload["function"]));
        Self { cell_id, execution_id, call_id, function, outcome }
    }
}

/// Kind and id of an actor, and the conversation of an assistant.
fn actor(actor: &Actor) -> (&'static str, Option<&str>, Option<&str>) {
    match actor {
        Actor::User { id } => ("user", Some(id.as_str()), None),
        Actor::Assistant { for_user, conversation } => {
            ("assistant", Some(for_user.as_str()), Some(conversation.as_str()))
        }
        Actor::Agent { id } => ("agent", Some(id.as_str()), None),
        Actor::Guest { share_link } => ("guest", Some(share_link.as_str()), None),
        Actor::System => ("system", None, None),
    }
}

impl Columns {
    fn rows(&self) -> usize {
        self.versions.len()
    }

    fn push(&mut self, stored: &Stored) {
        let Stored { envelope, payload, salt, payload_digest, hash } = stored;
        let (kind, id, conversation) = actor(&envelope.actor);
        let decoded = Decoded::of(stored);
        let salt = salt.as_ref().map(ToString::to_string);
        let required = [
            envelope.notebook_id.as_str(),
            envelope.id.as_str(),
            &envelope.event_type,
            kind,
            envelope.command_id.as_str(),
            envelope.correlation_id.as_str(),
            payload.get(),
        ];
        let optional = [
            id,
            conversation,
            envelope.causation_id.as_ref().map(|id| id.as_str()),
            envelope.undoes.as_ref().map(|id| id.as_str()),
            salt.as_deref(),
            decoded.cell_id.as_deref(),
            decoded.execution_id.as_deref(),
            decoded.call_id.as_deref(),
            decoded.function.as_deref(),
            decoded.outcome.as_deref(),
        ];
        self.required.iter_mut().zip(required).for_each(|(column, text)| column.push(text.into()));
        self.optional.iter_mut().zip(optional).for_each(|(column, text)| column.push(text));
        self.versions.push(number(envelope.version));
        self.schemas.push(i32::from(envelope.schema));
        self.times.push(number(envelope.recorded_at));
        self.digests.push(payload_digest.0.to_vec().into());
        self.hashes.push(hash.0.to_vec().into());
        self.payload_bytes += payload.get().len();
    }

    fn write<W: Write + Send>(self, writer: &mut SerializedFileWriter<W>) -> Result<(), ParquetError> {
        let mut group = writer.next_row_group()?;
        let (mut required, mut optional) = (self.required.into_iter(), self.optional.into_iter());
        let (mut numbers, mut bytes) =
            ([self.versions, self.times].into_iter(), [self.digests, self.hashes].into_iter());
        while let Some(mut column) = group.next_column()? {
            // The kind and the order of the columns say which values are next.
            match column.untyped() {
                ColumnWriter::ByteArrayColumnWriter(column) if column.get_descriptor().max_def_level() > 0 => {
                    let texts = optional.next().unwrap_or_default();
                    column.write_batch(&texts.values, Some(&texts.levels), None)?;
                }
                ColumnWriter::ByteArrayColumnWriter(column) => {
                    column.write_batch(&required.next().unwrap_or_default(), None, None)?;
                }
                ColumnWriter::Int64ColumnWriter(column) => {
                    column.write_batch(&numbers.next().unwrap_or_default(), None, None)?;
                }
                ColumnWriter::Int32ColumnWriter(column) => {
                    column.write_batch(&self.schemas, None, None)?;
                }
                ColumnWriter::FixedLenByteArrayColumnWriter(column) => {
                    column.write_batch(&bytes.next().unwrap_or_default(), None, None)?;
                }
                _ => return Err(ParquetError::General("a column of another kind".to_owned())),
            }
            column.close()?;
        }
        group.close()?;
        Ok(())
    }
}

/// Versions and times are below 2^53.
fn number(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}
