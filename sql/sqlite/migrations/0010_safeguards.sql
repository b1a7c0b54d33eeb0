-- What single users must not be able to do to everybody else, and what the trial of version 9 showed.

-- Instances and waits.

-- Limits of what is stored.

-- Keys.

-- Counters.
