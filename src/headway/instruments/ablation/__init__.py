"""Ablation: two contenders' differences are switched one thing at a time, at Headway's own endpoints."""
