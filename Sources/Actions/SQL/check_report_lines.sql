-- Checks the rows of external purchase reports against each other, the time and the ledger, and numbers their reports.
--
-- A report has the position of its first row. A rule has Apple's name and number of the error that the report would get. What the ledger
-- knows of a line is its newest version in a report that Apple took. A line or token that the ledger does not know is left to Apple,
-- because another program can have reported it.
WITH grouped AS (
    SELECT s.position, s.subject, s.rule, s.parameters AS p, s.parameters ->> 'line_item_id' AS id,
           s.parameters ->> 'reference_line_item_id' AS reference, min(s.position) OVER token AS report, count(*) OVER token AS lines,
           min(s.position) FILTER (WHERE s.rule IS NULL) OVER token AS first_position,
           min(s.position) FILTER (WHERE s.rule IS NULL) OVER (PARTITION BY s.parameters ->> 'line_item_id') AS first_of_id
      FROM stage_input_rows s
    WINDOW token AS (PARTITION BY coalesce('token ' || s.subject, s.position::text))
), known AS MATERIALIZED (
    SELECT DISTINCT ON (i.line_item_id) i.line_item_id AS id, i.parameters AS p
      FROM (SELECT id FROM grouped UNION SELECT reference FROM grouped) n
      JOIN action_input_rows i ON i.app_id = :app AND i.line_item_id = n.id
      JOIN action_rows r ON r.app_id = i.app_id AND r.batch_id = i.batch_id AND r.position = i.position AND r.state = 'succeeded'
     ORDER BY i.line_item_id, r.ended_at DESC, r.batch_id
), valid_refunds AS (
    SELECT g.report, g.reference AS id, min(g.position) AS position
      FROM grouped g
     WHERE g.rule IS NULL AND g.p ->> 'event_type' = 'REFUND' AND (g.p ->> 'erroneously_submitted')::boolean IS NOT TRUE
     GROUP BY 1, 2
), valid_refunds_of_ledger AS MATERIALIZED (
    SELECT n.p ->> 'reference_line_item_id' AS id, min(n.id) AS refund
      FROM (SELECT DISTINCT ON (i.line_item_id) i.line_item_id AS id, i.parameters AS p
              FROM action_input_rows i
              JOIN action_rows r ON r.app_id = i.app_id AND r.batch_id = i.batch_id AND r.position = i.position AND r.state = 'succeeded'
             WHERE i.app_id = :app
               AND i.line_item_id IN (SELECT o.line_item_id FROM action_input_rows o
                                       WHERE o.app_id = :app AND o.parameters ->> 'reference_line_item_id'
                                             IN (SELECT id FROM grouped WHERE (p ->> 'erroneously_submitted')::boolean))
             ORDER BY i.line_item_id, r.ended_at DESC, r.batch_id) n
     WHERE n.p ->> 'event_type' = 'REFUND' AND (n.p ->> 'erroneously_submitted')::boolean IS NOT TRUE
       -- A refund that is also in the input is checked there.
       AND n.id NOT IN (SELECT g.id FROM grouped g WHERE g.id IS NOT NULL)
     GROUP BY 1
), tokens AS MATERIALIZED (
    SELECT DISTINCT ON (n.external_purchase_id) n.external_purchase_id AS id, n.external_purchase_token_type AS type,
           n.external_purchase_token_creation_date AS created_at, n.external_purchase_token_expiration_date AS expires_at
      FROM notifications n
     WHERE n.app_id = :app AND n.notification_type = 'EXTERNAL_PURCHASE_TOKEN'
       AND n.external_purchase_id IN (SELECT subject FROM grouped)
     ORDER BY n.external_purchase_id, n.signed_date DESC
), reported AS MATERIALIZED (
    SELECT DISTINCT r.subject FROM (SELECT DISTINCT subject FROM grouped) g
      JOIN action_rows r ON r.app_id = :app AND r.subject = g.subject AND r.state = 'succeeded' AND r.parameters ->> 'status' = 'LINE_ITEM'
      JOIN action_batches b ON b.app_id = r.app_id AND b.batch_id = r.batch_id AND b.action = :action
), unsettled AS MATERIALIZED (
    SELECT DISTINCT r.subject FROM (SELECT DISTINCT subject FROM grouped) g
      JOIN action_rows r ON r.app_id = :app AND r.subject = g.subject AND r.state IN ('sending', 'unknown', 'confirming')
      JOIN action_batches b ON b.app_id = r.app_id AND b.batch_id = r.batch_id AND b.action = :action
), lines AS (
    SELECT g.*, g.p ->> 'status' AS status, first.p ->> 'status' AS first_status, g.p ->> 'event_type' = 'REFUND' AS is_refund,
           to_timestamp((g.p ->> 'creation_date')::bigint / 1000.0) AS created_at,
           to_char(to_timestamp((g.p ->> 'creation_date')::bigint / 1000.0) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS created,
           coalesce((g.p ->> 'restatement')::boolean, false) AS is_restated,
           coalesce((g.p ->> 'erroneously_submitted')::boolean, false) AS is_erroneous,
           other.position AS other_position, known.p AS known, coalesce(same.p, target.p) AS target, same.p IS NULL AS is_target_of_ledger,
           t.id IS NOT NULL AS has_token, t.type AS token_type, t.created_at AS token_created_at, t.expires_at AS token_expires_at,
           valid.position AS valid_refund_position, valid_of_ledger.refund AS valid_refund,
           reported.subject IS NOT NULL AS has_lines, unsettled.subject IS NOT NULL AS is_unsettled
      FROM grouped g
      LEFT JOIN grouped first ON first.position = g.first_position
      LEFT JOIN grouped same ON same.id = g.reference AND same.position = same.first_of_id AND same.report = g.report
      LEFT JOIN grouped other ON other.id = g.reference AND other.position = other.first_of_id AND other.report <> g.report
      LEFT JOIN known ON known.id = g.id
      LEFT JOIN known target ON target.id = g.reference
      LEFT JOIN valid_refunds valid ON valid.report = g.report AND valid.id = g.id
      LEFT JOIN valid_refunds_of_ledger valid_of_ledger ON valid_of_ledger.id = g.id
      LEFT JOIN tokens t ON t.id = g.subject
      LEFT JOIN reported ON reported.subject = g.subject
      LEFT JOIN unsettled ON unsettled.subject = g.subject
     WHERE g.rule IS NULL
), judged AS (
    SELECT l.position,
           -- The file alone decides.
           CASE WHEN l.status <> l.first_status
                    THEN ARRAY['mixed_status', format('status is %s, and row %s has %s for the same token; a report has one status',
                                                      l.status, l.first_position, l.first_status)]
                WHEN l.status <> 'LINE_ITEM' AND l.first_position < l.position
                    THEN ARRAY['repeated_token', format('row %s reports the same token', l.first_position)]
                WHEN l.lines > :most_lines::bigint
                    THEN ARRAY['report_too_long', format('the token has %s rows; a report has at most %s', l.lines, :most_lines)]
                WHEN l.subject LIKE 'SANDBOX%' AND NOT :is_sandbox::boolean
                    THEN ARRAY['sandbox_token', format('external_purchase_id is %s, a token of the sandbox; the job is for Production', l.subject)]
                WHEN l.subject NOT LIKE 'SANDBOX%' AND :is_sandbox
                    THEN ARRAY['production_token', format('external_purchase_id is %s; the job is for the sandbox, whose tokens begin with SANDBOX', l.subject)]
                WHEN l.first_of_id < l.position AND l.id IS NOT NULL
                    THEN ARRAY['DuplicateValueError', format('line_item_id is %s, as in row %s; it must be unique (Apple''s 1)', l.id, l.first_of_id)]
                WHEN l.created_at > now()
                    THEN ARRAY['FutureDateError', format('creation_date is %s; it must not be in the future (Apple''s 6)', l.created)]
                WHEN l.created_at < now() - interval '3 years'
                    THEN ARRAY['DateTooFarInPastError', format('creation_date is %s; it must not be more than 3 years ago (Apple''s 27)', l.created)]
                WHEN to_timestamp((l.p ->> 'subscription_start_date')::bigint / 1000.0) < now() - interval '3 years'
                    THEN ARRAY['DateTooFarInPastError', format('subscription_start_date is %s; it must not be more than 3 years ago (Apple''s 27)',
                                                               l.p ->> 'subscription_start_date')]
                WHEN l.is_restated AND l.created_at < now() - interval '1 year'
                    THEN ARRAY['RestatementNotAllowedCreationDateError',
                               format('restatement is true, and creation_date is %s; a line can be restated for 1 year (Apple''s 39)', l.created)]
                WHEN l.is_erroneous AND l.valid_refund_position IS NOT NULL
                    THEN ARRAY['ErroneousLineItemReferencedByValidLineItemError',
                               format('line item %s is erroneously submitted, and row %s refunds it (Apple''s 22)', l.id, l.valid_refund_position)]
                WHEN l.target IS NULL AND l.other_position IS NOT NULL
                    THEN ARRAY['reference_in_other_report',
                               format('reference_line_item_id is %s, which row %s reports for another token; report that one first', l.reference, l.other_position)]
           END AS of_file,
           CASE WHEN l.target IS NULL THEN NULL
                WHEN l.is_refund AND l.target ->> 'event_type' = 'REFUND'
                    THEN ARRAY['RefundReferencedByRefundError', format('reference_line_item_id is %s, a refund; it must be a purchase (Apple''s 28)', l.reference)]
                WHEN l.target ->> 'event_type' = 'REFUND'
                    THEN ARRAY['ReferenceLineItemNotABuyError', format('reference_line_item_id is %s, a refund; it must be a purchase (Apple''s 21)', l.reference)]
                WHEN NOT l.is_refund AND l.target ? 'reference_line_item_id'
                    THEN ARRAY['NonInitialBuyReferencedByBuyError',
                               format('reference_line_item_id is %s, which refers to another purchase; it must be the first one (Apple''s 29)', l.reference)]
                WHEN NOT l.is_refund AND l.target ->> 'subscription_event' IS DISTINCT FROM 'SUBSCRIPTION_START'
                    THEN ARRAY['ReferenceInvalidSubscriptionEventError',
                               format('reference_line_item_id is %s, which has no SUBSCRIPTION_START (Apple''s 14)', l.reference)]
                WHEN (l.target ->> 'erroneously_submitted')::boolean AND NOT l.is_erroneous
                    THEN ARRAY['ValidLineItemReferencesErroneousLineItemError',
                               format('reference_line_item_id is %s, which is erroneously submitted (Apple''s 25)', l.reference)]
                WHEN (l.p ->> 'creation_date')::bigint < (l.target ->> 'creation_date')::bigint
                    THEN ARRAY['ReferencedCreationDateIncompatibleError',
                               format('creation_date is %s; it must not be before that of %s, its reference_line_item_id (Apple''s 31)', l.created, l.reference)]
                WHEN NOT l.is_refund THEN NULL
                WHEN l.p ->> 'reporting_currency' <> l.target ->> 'reporting_currency'
                    THEN ARRAY['ReportingCurrencyMismatchError', format('reporting_currency is %s; it must be %s as in %s (Apple''s 2)',
                                                                       l.p ->> 'reporting_currency', l.target ->> 'reporting_currency', l.reference)]
                WHEN l.p ->> 'pricing_currency' <> l.target ->> 'pricing_currency'
                    THEN ARRAY['PricingCurrencyMismatchError', format('pricing_currency is %s; it must be %s as in %s (Apple''s 32)',
                                                                     l.p ->> 'pricing_currency', l.target ->> 'pricing_currency', l.reference)]
                WHEN (l.p ->> 'exchange_rate')::numeric IS DISTINCT FROM (l.target ->> 'exchange_rate')::numeric
                    THEN ARRAY['ExchangeRateMismatchError', format('exchange_rate is %s; it must be %s as in %s (Apple''s 33)',
                                                                  l.p ->> 'exchange_rate', l.target ->> 'exchange_rate', l.reference)]
                WHEN l.p ->> 'tax_country' <> l.target ->> 'tax_country'
                    THEN ARRAY['TaxCountryMismatchError', format('tax_country is %s; it must be %s as in %s (Apple''s 23)',
                                                                l.p ->> 'tax_country', l.target ->> 'tax_country', l.reference)]
                WHEN l.created_at > to_timestamp((l.target ->> 'creation_date')::bigint / 1000.0) + interval '1 year'
                    THEN ARRAY['RefundNotAllowedCreationDateError',
                               format('creation_date is %s; a purchase can be refunded for 1 year (Apple''s 40)', l.created)]
                WHEN NOT l.is_erroneous AND (l.p ->> 'net_amount_tax_exclusive')::bigint
                     > (l.target ->> 'amount_tax_exclusive')::bigint - (l.p ->> 'amount_tax_exclusive')::bigint
                    THEN ARRAY['IncorrectNetAmountError',
                               format('net_amount_tax_exclusive is %s; it must not be more than what this refund leaves of %s, %s (Apple''s 12)',
                                      l.p ->> 'net_amount_tax_exclusive', l.reference,
                                      (l.target ->> 'amount_tax_exclusive')::bigint - (l.p ->> 'amount_tax_exclusive')::bigint)]
           END AS of_target,
           CASE WHEN l.is_unsettled
                    THEN ARRAY['earlier_report_unknown',
                               'the outcome of an earlier report of the token is not known yet; run its batch first, or an older version could replace a newer one']
                WHEN l.known IS NOT NULL AND NOT l.is_restated
                    THEN ARRAY['DuplicateValueError',
                               format('line_item_id is %s, which Apple has already; set restatement to true to correct it (Apple''s 1)', l.id)]
                WHEN l.p -> 'creation_date' <> l.known -> 'creation_date'
                    THEN ARRAY['RestatementCreationDateMismatchError',
                               format('creation_date is %s; it must be %s, as it was reported (Apple''s 38)', l.p ->> 'creation_date', l.known ->> 'creation_date')]
                WHEN l.is_erroneous AND (l.known ->> 'erroneously_submitted')::boolean
                    THEN ARRAY['RepeatErroneousSubmissionError', format('line item %s is already erroneously submitted (Apple''s 30)', l.id)]
                WHEN l.is_erroneous AND l.valid_refund IS NOT NULL
                    THEN ARRAY['ErroneousLineItemReferencedByValidLineItemError',
                               format('line item %s is erroneously submitted, but its refund %s is not; report the refund as erroneously submitted, too (Apple''s 22)',
                                      l.id, l.valid_refund)]
                WHEN l.has_lines AND l.status IN ('NO_LINE_ITEM', 'UNRECOGNIZED_TOKEN')
                    THEN ARRAY['LineItemStatusRegressionError', format('status is %s, and Apple has line items of the token (Apple''s 8)', l.status)]
                WHEN l.has_token AND l.status = 'DUPLICATE_TOKEN' AND coalesce(l.token_type, '') NOT IN ('ACQUISITION', 'SERVICES')
                    THEN ARRAY['DuplicateTokenStatusNotAllowedError',
                               format('status is DUPLICATE_TOKEN, and the token''s type is %s; it must be ACQUISITION or SERVICES (Apple''s 37)',
                                      coalesce(l.token_type, 'missing'))]
                WHEN NOT l.is_refund AND l.created_at < l.token_created_at
                    THEN ARRAY['LineItemCreationDateOutOfRangeError',
                               format('creation_date is %s; the token was created later, at %s (Apple''s 36)', l.created,
                                      to_char(l.token_created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'))]
                WHEN NOT l.is_refund AND l.created_at > l.token_expires_at
                    THEN ARRAY['LineItemCreationDateOutOfRangeError',
                               format('creation_date is %s; the token expired before, at %s (Apple''s 36)', l.created,
                                      to_char(l.token_expires_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'))]
           END AS of_ledger, l.is_target_of_ledger
      FROM lines l
), found AS (
    SELECT j.position, coalesce(j.of_file, j.of_target, j.of_ledger) AS problem,
           j.of_file IS NULL AND (j.of_target IS NULL OR j.is_target_of_ledger) AS is_of_ledger
      FROM judged j
)
UPDATE stage_input_rows s
   SET report = g.report, rule = coalesce(s.rule, f.problem[1]), reason = coalesce(s.reason, f.problem[2]),
       is_of_ledger = coalesce(f.problem IS NOT NULL AND f.is_of_ledger, false)
  FROM grouped g LEFT JOIN found f ON f.position = g.position
 WHERE s.position = g.position
