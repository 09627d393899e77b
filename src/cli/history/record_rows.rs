//! Rows of a Parquet file, in programs that are built with it.

#[cfg(feature = "parquet")]
mod rows {
    use std::io::{self, Write};

    use notarium_core::Stored;

    use crate::cli::Failure;

    /// Writes events as rows.
    pub struct RecordRows<W: Write + Send>(notarium_parquet::RecordRows<W>);

    impl<W: Write + Send> RecordRows<W> {
        pub fn new(out: W) -> Result<Self, Failure> {
            notarium_parquet::RecordRows::new(out).map(Self).map_err(|error| Failure::failed(error.to_string()))
        }

        pub fn write(&mut self, stored: &Stored) -> io::Result<()> {
            self.0.write(stored)
        }

        pub fn finish(self) -> io::Result<W> {
            self.0.finish()
        }
    }
}

#[cfg(not(feature = "parquet"))]
mod rows {
    use std::io;
    use std::marker::PhantomData;

    use notarium_core::Stored;

    use crate::cli::Failure;

    /// A program without Parquet makes none of these.
    pub struct RecordRows<W>(std::convert::Infallible, PhantomData<W>);

    impl<W> RecordRows<W> {
        pub fn new(_: W) -> Result<Self, Failure> {
            Err(Failure::usage(
                "this program was built without Parquet: take a released one, or DuckDB: \
                 COPY (FROM read_json('FILE.jsonl.zst')) TO 'FILE.parquet'",
            ))
        }

        pub fn write(&mut self, _: &Stored) -> io::Result<()> {
            match self.0 {}
        }

        pub fn finish(self) -> io::Result<W> {
            match self.0 {}
        }
    }
}

pub use rows::RecordRows;
