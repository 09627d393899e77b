//! Histogram of whole numbers in fixed buckets. Those of `prometheus-client` take a mutex for each observation; this one adds to atomics.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use prometheus_client::encoding::{EncodeMetric, MetricEncoder, NoLabelSet};
use prometheus_client::metrics::{MetricType, TypedMetric};

/// Buckets of a histogram, and the unit of its numbers.
#[derive(Debug, Clone, Copy)]
pub struct Scale {
    /// Upper ends of the buckets, in ascending order.
    pub bounds: &'static [u64],
    /// Counted numbers that are one of the exported unit: 1,000,000 for microseconds that are exported as seconds.
    pub per_unit: f64,
}

const MICROSECONDS: f64 = 1e6;

/// From 100 µs to 30 s, exported in seconds.
pub const SHORT_TIMES: Scale = Scale {
    bounds: &[
        100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000, 2_500_000,
        10_000_000, 30_000_000,
    ],
    per_unit: MICROSECONDS,
};

/// From a second to a day, exported in seconds.
pub const LONG_TIMES: Scale = Scale {
    bounds: &[
        1_000_000,
        5_000_000,
        15_000_000,
        60_000_000,
        300_000_000,
        900_000_000,
        3_600_000_000,
        14_400_000_000,
        86_400_000_000,
    ],
    per_unit: MICROSECONDS,
};

/// From 1 to 1,024 pieces.
pub const COUNTS: Scale = Scale { bounds: &[1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1_024], per_unit: 1.0 };

/// From 256 bytes to 16 MiB.
pub const BYTES: Scale = Scale {
    bounds: &[256, 1 << 10, 4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20, 16 << 20],
    per_unit: 1.0,
};

/// A histogram. Clones share their counts.
#[derive(Debug, Clone)]
pub struct Histogram(Arc<Counts>);

#[derive(Debug)]
struct Counts {
    scale: Scale,
    /// One for each bound, and one for what is above.
    buckets: Box<[AtomicU64]>,
    sum: AtomicU64,
}

impl Histogram {
    pub fn new(scale: Scale) -> Self {
        let buckets = (0..=scale.bounds.len()).map(|_| AtomicU64::new(0)).collect();
        Self(Arc::new(Counts { scale, buckets, sum: AtomicU64::new(0) }))
    }

    /// Counts a number.
    pub fn observe(&self, number: u64) {
        let bucket = self.0.scale.bounds.partition_point(|bound| *bound < number);
        self.0.buckets[bucket].fetch_add(1, Ordering::Relaxed);
        self.0.sum.fetch_add(number, Ordering::Relaxed);
    }

    /// Counts a number of pieces or bytes.
    pub fn observe_size(&self, size: usize) {
        self.observe(size as u64);
    }

    /// Counts a time, in a histogram of microseconds.
    pub fn observe_time(&self, time: Duration) {
        self.observe(u64::try_from(time.as_micros()).unwrap_or(u64::MAX));
    }

    /// Number of observations.
    pub fn count(&self) -> u64 {
        self.0.buckets.iter().map(|bucket| bucket.load(Ordering::Relaxed)).sum()
    }
}

impl TypedMetric for Histogram {
    const TYPE: MetricType = MetricType::Histogram;
}

impl EncodeMetric for Histogram {
    fn encode(&self, mut encoder: MetricEncoder) -> Result<(), std::fmt::Error> {
        let Counts { scale, buckets, sum } = &*self.0;
        let ends = scale.bounds.iter().map(|bound| *bound as f64 / scale.per_unit).chain([f64::INFINITY]);
        let counts = buckets.iter().map(|bucket| bucket.load(Ordering::Relaxed));
        let buckets: Vec<(f64, u64)> = ends.zip(counts).collect();
        // The sum of the buckets, so that they agree.
        let count = buckets.iter().map(|(_, count)| count).sum();
        let sum = sum.load(Ordering::Relaxed) as f64 / scale.per_unit;
        encoder.encode_histogram::<NoLabelSet>(sum, count, &buckets, None)
    }

    fn metric_type(&self) -> MetricType {
        Self::TYPE
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use prometheus_client::encoding::text::encode;
    use prometheus_client::registry::Registry;

    #[test]
    fn a_histogram_exports_its_buckets_in_its_unit() {
        let histogram = Histogram::new(Scale { bounds: &[100, 2_500_000], per_unit: MICROSECONDS });
        for micros in [100, 101, 2_500_000, 9_000_000] {
            histogram.observe_time(Duration::from_micros(micros));
        }
        let mut registry = Registry::default();
        registry.register("wait_seconds", "A wait", histogram.clone());
        let mut text = String::new();
        encode(&mut text, &registry).unwrap();
        for line in [
            "wait_seconds_bucket{le=\"0.0001\"} 1\n",
            "wait_seconds_bucket{le=\"2.5\"} 3\n",
            "wait_seconds_bucket{le=\"+Inf\"} 4\n",
            "wait_seconds_count 4\n",
            "wait_seconds_sum 11.500201\n",
        ] {
            assert!(text.contains(line), "{line}: {text}");
        }
        assert_eq!(histogram.count(), 4);
    }
}
