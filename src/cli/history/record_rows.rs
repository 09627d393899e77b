//! Rows of a Parquet file, in programs that are built with it.

#[cfg(feature = "parquet")]
pub use notarium_parquet::RecordRows;

#[cfg(not(feature = "parquet"))]
pub use without::NoRows as RecordRows;

#[cfg(not(feature = "parquet"))]
mod without {
    use std::convert::Infallible;
    use std::io;
    use std::marker::PhantomData;

    use notarium_core::Stored;

    /// Rows that cannot be made: this program has no Parquet.
    pub struct NoRows<W>(Infallible, PhantomData<W>);

    impl<W> NoRows<W> {
        pub fn new(_: W) -> io::Result<Self> {
            Err(io::Error::other(
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
