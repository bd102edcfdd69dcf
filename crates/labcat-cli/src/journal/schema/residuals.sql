-- Least squares, and the noise in measured constraints.
ALTER TABLE trial ADD COLUMN residuals BLOB;       -- 64-bit floats, the lowest byte first; the value is the sum of their squares
ALTER TABLE trial ADD COLUMN constraint_std TEXT;  -- a JSON list as long as constraints, null where the noise is not known
