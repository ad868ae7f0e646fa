"""pawl: prompts, tools and workflows of AI agents as pinned, gated and revocable versions."""
