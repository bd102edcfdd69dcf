"""A simulation that fails for some parameters: failures are recorded and the run goes on."""

import math

import labcat


def simulate(speed, angle):
    """Throw a ball at a target 75 m away and measure the miss; the arm breaks if it is too fast."""
    if speed * math.cos(angle) > 20:
        raise RuntimeError("the arm broke")
    if angle < 0.05:
        return math.nan  # the measurement failed: NaN and infinity count as failures too
    distance = speed**2 * math.sin(2 * angle) / 9.81
    return abs(distance - 75)


space = labcat.Space(speed=(5, 50), angle=(0, math.pi / 2))

# on_error="fail": an exception is a failed evaluation. The default, "raise", would end the run.
result = labcat.minimize(simulate, space, budget=60, rng=3, on_error="fail")

print(f"{result.nfev} simulations, {result.history.failed.sum()} of them failed")
speed, angle = result.params["speed"], math.degrees(result.params["angle"])
print(f"best miss {result.fun:.1e} m, at {speed:.2f} m/s and {angle:.1f} degrees")

# Without on_error the exception arrives as it was raised, with the result so far.
try:
    labcat.minimize(simulate, space, budget=60, rng=3)
except RuntimeError as error:
    print(f"without on_error: {error!r} after {error.labcat_result.nfev} simulations")
