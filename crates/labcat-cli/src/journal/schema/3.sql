-- What an evaluation measured of the study's constraints.
ALTER TABLE trial ADD COLUMN constraints TEXT;  -- a JSON list, one number for each comparison: met where not above 0
