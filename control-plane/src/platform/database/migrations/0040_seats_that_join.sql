-- When a seat counts towards the quorum at the latest, if its probe has not voted by then: one interval and timeout after it opened. Null: from its
-- opening, as all seats did before.
alter table assignments add column counts_by timestamptz;
