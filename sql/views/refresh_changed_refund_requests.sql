-- Which requests for a refund of what changed are counted so far, and which replace them?
--
-- As refresh_changed_transactions, for requests for a refund and for decisions without a request.
CREATE OR REPLACE VIEW refresh_changed_refund_requests AS
SELECT -1 AS sign, b.* FROM refresh_refund_requests_before b
UNION ALL
SELECT 1, a.* FROM refresh_refund_requests_after a
UNION ALL
SELECT 1, s.* FROM refresh_stored_refund_requests s WHERE (SELECT is_rebuild FROM refresh_state);
