"""What a noise model is fitted to, the likeliest distributions, and how well these describe it (KαLOS §9.2, §9.3)."""
