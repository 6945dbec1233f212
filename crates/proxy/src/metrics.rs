//! Figures for Prometheus. Labels take few values, all of them ours or the operator's: nothing that a client sends becomes one.

use std::sync::atomic::AtomicU64;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

/// What a request was.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct RequestLabels {
    /// The form, or what else it was.
    pub route: &'static str,
    /// The status that the client saw.
    pub status: u32,
    /// What was done with it.
    pub deed: &'static str,
}

/// A single word.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct KindLabel {
    /// It.
    pub kind: &'static str,
}

/// All figures.
#[derive(Debug)]
pub struct ProxyMetrics {
    registry: Registry,
    /// Requests that are over.
    pub requests: Family<RequestLabels, Counter>,
    /// How they ended.
    pub endings: Family<KindLabel, Counter>,
    /// Requests under way.
    pub under_way: Gauge,
    /// Connections of clients.
    pub connections: Gauge,
    /// Bytes of bodies, from clients and to them.
    pub bytes: Family<KindLabel, Counter>,
    /// What we added before a request went out.
    pub added: Histogram,
    /// Until the first byte of an answer came back, upstream included.
    pub first_byte: Histogram,
    /// Tokens of prompts as they came.
    pub tokens_before: Counter,
    /// As they went out.
    pub tokens_after: Counter,
    /// Passes that were made for requests.
    pub passes: Counter,
    /// Tool results that were shrunk at insertion.
    pub trimmed: Counter,
    /// Requests that went out as they came because something of ours went wrong.
    pub failed_open: Family<KindLabel, Counter>,
    /// Requests that were refused.
    pub refused: Family<KindLabel, Counter>,
    /// Requests that upstreams did not answer.
    pub upstream_errors: Family<KindLabel, Counter>,
    /// Requests that were sent again in another form.
    pub retries: Family<KindLabel, Counter>,
    /// What became of calls of the tool that we offer, and requests that went out to go on after them.
    pub recalls: Family<KindLabel, Counter>,
    /// Reloads of the configuration.
    pub reloads: Family<KindLabel, Counter>,
}

/// From a tenth of what a small request may be held up to what patience allows, by about two each.
const ADDED: [f64; 14] = [
    0.00003, 0.0001, 0.0002, 0.0003, 0.0005, 0.001, 0.002, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0,
];
/// From a server on this machine to a model that thinks.
const FIRST_BYTE: [f64; 12] = [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0];

impl Default for ProxyMetrics {
    fn default() -> Self {
        let mut metrics = Self {
            registry: Registry::with_prefix("mainstay"),
            requests: Family::default(),
            endings: Family::default(),
            under_way: Gauge::default(),
            connections: Gauge::default(),
            bytes: Family::default(),
            added: Histogram::new(ADDED),
            first_byte: Histogram::new(FIRST_BYTE),
            tokens_before: Counter::default(),
            tokens_after: Counter::default(),
            passes: Counter::default(),
            trimmed: Counter::default(),
            failed_open: Family::default(),
            refused: Family::default(),
            upstream_errors: Family::default(),
            retries: Family::default(),
            recalls: Family::default(),
            reloads: Family::default(),
        };
        metrics.register();
        metrics
    }
}

impl ProxyMetrics {
    fn register(&mut self) {
        let registry = &mut self.registry;
        registry.register("requests", "Requests that are over", self.requests.clone());
        registry.register("endings", "How answers ended", self.endings.clone());
        registry.register("requests_under_way", "Requests under way", self.under_way.clone());
        registry.register("connections", "Connections of clients", self.connections.clone());
        registry.register(
            "body_bytes",
            "Bytes of bodies, in from clients and out to them",
            self.bytes.clone(),
        );
        registry.register(
            "added_seconds",
            "Time we added before a request went out",
            self.added.clone(),
        );
        registry.register(
            "first_byte_seconds",
            "Time until an answer began, upstream included",
            self.first_byte.clone(),
        );
        registry.register(
            "prompt_tokens_before",
            "Tokens of prompts as they came",
            self.tokens_before.clone(),
        );
        registry.register(
            "prompt_tokens_after",
            "Tokens of prompts as they went out",
            self.tokens_after.clone(),
        );
        registry.register("passes", "Passes that were made for requests", self.passes.clone());
        registry.register(
            "trimmed_results",
            "Tool results shrunk at insertion",
            self.trimmed.clone(),
        );
        let words = "Requests that went out as they came because something of ours went wrong";
        registry.register("failed_open", words, self.failed_open.clone());
        registry.register("refused", "Requests that were refused", self.refused.clone());
        let words = "Requests that upstreams did not answer";
        registry.register("upstream_errors", words, self.upstream_errors.clone());
        registry.register(
            "retries",
            "Requests that were sent again in another form",
            self.retries.clone(),
        );
        let words = "Calls of the recall tool that is offered, and requests that went on after them";
        registry.register("recalls", words, self.recalls.clone());
        registry.register("reloads", "Reloads of the configuration", self.reloads.clone());
    }

    /// All of it, in the form that Prometheus reads.
    pub fn text(&self) -> String {
        let mut text = String::new();
        // Writing to a string does not fail.
        let _written = encode(&mut text, &self.registry);
        text
    }
}

/// One more.
pub fn count(family: &Family<KindLabel, Counter<u64, AtomicU64>>, kind: &'static str) {
    family.get_or_create(&KindLabel { kind }).inc();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_figure_is_there_from_the_start_or_when_it_first_counts() {
        let metrics = ProxyMetrics::default();
        count(&metrics.failed_open, "panic");
        metrics.added.observe(0.0001);
        let text = metrics.text();
        for line in [
            "mainstay_failed_open_total{kind=\"panic\"} 1",
            "mainstay_added_seconds_count 1",
            "mainstay_requests_under_way 0",
            "mainstay_passes_total 0",
            "# EOF",
        ] {
            assert!(text.contains(line), "{line}\n{text}");
        }
    }
}
