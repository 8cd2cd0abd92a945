-- Which few transactions of millions were refunded, or shared by a family?
--
-- Found by scripts/views-bench: without these, refunded_purchases and family_sharing_by_month read the whole table for one
-- row in fifty. Both are partial, so that most transactions cost nothing when they are loaded.
CREATE INDEX transactions_revoked ON transactions (app_id, revocation_date) INCLUDE (transaction_id) WHERE revocation_date IS NOT NULL;
CREATE INDEX transactions_family_shared ON transactions (app_id, purchase_date) WHERE in_app_ownership_type = 'FAMILY_SHARED';
