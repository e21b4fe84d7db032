"""Returns of assets: risk, drawdown, the least risky portfolio, value at risk."""

import sys

import numpy as np

days = int(sys.argv[1]) if len(sys.argv) > 1 else 600_000
assets = 8
rng = np.random.default_rng(21)
factor = rng.normal(0.0003, 0.008, size=days)
beta = np.linspace(0.4, 1.6, assets)
returns = factor[:, None] * beta + rng.normal(0, 0.01, size=(days, assets)) * np.linspace(1.4, 0.6, assets)
mean, cov = returns.mean(axis=0) * 252, np.cov(returns, rowvar=False) * 252
print("yearly volatility:", np.sqrt(np.diag(cov)).round(4))
weights = np.linalg.solve(cov, np.ones(assets))
weights /= weights.sum()
print("least risky:", weights.round(4), f"volatility {np.sqrt(weights @ cov @ weights):.5f}")
portfolio = returns @ weights
wealth = np.cumprod(1 + portfolio[:2500])
drawdown = 1 - wealth / np.maximum.accumulate(wealth)
print(f"worst drawdown {drawdown.max():.4f} on day {drawdown.argmax()}, wealth at the end {wealth[-1]:.4f}")
var = -np.quantile(portfolio, 0.01)
print(f"1 % value at risk {var:.5f}, expected shortfall {-portfolio[portfolio < -var].mean():.5f}")
monthly = (1 + portfolio[: days // 21 * 21].reshape(-1, 21)).prod(axis=1) - 1
print(f"months with a loss: {np.mean(monthly < 0):.4f}, best {monthly.max():.4f}")
