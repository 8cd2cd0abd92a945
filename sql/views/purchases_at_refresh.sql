-- Which purchases do materialised views add up?
--
-- The rows of purchases, which a refresh computes once. No role has the right to
-- read this view.
CREATE OR REPLACE VIEW purchases_at_refresh AS
SELECT kept.* FROM kept_purchases kept
UNION ALL
SELECT shown.* FROM unless_kept(NULL::kept_purchases) shown;
COMMENT ON VIEW purchases_at_refresh IS
    'The rows of purchases, computed once in a refresh. Only for materialised views.';
