"""What people decide: policies, approvals, waivers, freezes and other recorded interventions."""
