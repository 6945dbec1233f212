//! The closed choices of flags and file, under the names that both use.

use clap::ValueEnum;
use mainstay_engine::decide::Engine;
use mainstay_engine::decide::Roles;
use mainstay_engine::decide::WayWanted;
use mainstay_engine::redact::Addresses;
use mainstay_wire::reading::WireForm;
use serde::Deserialize;
use serde::Serialize;

/// What compacts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum EngineChoice {
    /// Pruning where it buys enough room, what stands for the older history where it does not.
    #[default]
    Auto,
    /// Pruning only, whatever it buys.
    Prune,
    /// A ledger in place of the older history, without pruning first.
    Ledger,
    /// A model's summary in place of the older history.
    Summary,
    /// A model's summary, with the exact values of the ledger.
    Hybrid,
}

impl EngineChoice {
    /// Whether it asks a model in any case.
    pub fn needs_a_model(self) -> bool {
        match self {
            EngineChoice::Summary | EngineChoice::Hybrid => true,
            EngineChoice::Auto | EngineChoice::Prune | EngineChoice::Ledger => false,
        }
    }
}

impl From<RolesChoice> for Roles {
    fn from(choice: RolesChoice) -> Self {
        match choice {
            RolesChoice::Open => Roles::Open,
            RolesChoice::Alternating => Roles::Alternating,
        }
    }
}

impl From<WayChoice> for WayWanted {
    fn from(choice: WayChoice) -> Self {
        match choice {
            WayChoice::Auto => WayWanted::Auto,
            WayChoice::Auxiliary => WayWanted::Auxiliary,
            WayChoice::InPlace => WayWanted::InPlace,
        }
    }
}

impl From<EngineChoice> for Engine {
    fn from(choice: EngineChoice) -> Self {
        match choice {
            EngineChoice::Auto => Engine::Auto,
            EngineChoice::Prune => Engine::Prune,
            EngineChoice::Ledger => Engine::Ledger,
            EngineChoice::Summary => Engine::Summary,
            EngineChoice::Hybrid => Engine::Hybrid,
        }
    }
}

/// Which sequences of roles the server accepts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum RolesChoice {
    /// Any that the provider's form allows.
    #[default]
    Open,
    /// Strictly user and assistant in turn, after at most one system message.
    Alternating,
}

/// When the proxy compacts conversations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum TimingChoice {
    /// When it pays by the prices of the model; at the threshold where they are not known.
    #[default]
    Economic,
    /// At the threshold.
    Threshold,
    /// Only where the provider refuses a prompt.
    Never,
}

/// Addresses of the internet to hide.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum AddressChoice {
    /// None.
    None,
    /// Those that lead to one machine from everywhere.
    Public,
    /// Those of private networks too.
    All,
}

impl From<AddressChoice> for Addresses {
    fn from(choice: AddressChoice) -> Self {
        match choice {
            AddressChoice::None => Addresses::None,
            AddressChoice::Public => Addresses::Public,
            AddressChoice::All => Addresses::All,
        }
    }
}

/// How a summary is asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum WayChoice {
    /// In place where the provider is known to have the conversation in its cache, otherwise auxiliary.
    #[default]
    Auto,
    /// Another model gets the redacted records of what is replaced.
    Auxiliary,
    /// The conversation's own model gets its own prefix and one instruction more.
    InPlace,
}

/// The form that an endpoint speaks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum FormChoice {
    /// OpenAI Chat Completions, which nearly every server speaks.
    #[default]
    #[serde(rename = "openai-chat")]
    Chat,
    /// OpenAI Responses.
    #[serde(rename = "openai-responses")]
    Responses,
    /// Anthropic Messages.
    #[serde(rename = "anthropic")]
    Anthropic,
}

impl From<FormChoice> for WireForm {
    fn from(choice: FormChoice) -> Self {
        match choice {
            FormChoice::Chat => WireForm::Chat,
            FormChoice::Responses => WireForm::Responses,
            FormChoice::Anthropic => WireForm::Anthropic,
        }
    }
}
