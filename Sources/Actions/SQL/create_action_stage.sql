-- Creates the temporary tables of a plan: the rows of the input, the rows of the batch, which are the same unless the action groups rows,
-- and what the ledger knows of their subjects.
CREATE TEMP TABLE stage_input_rows (position bigint NOT NULL, line bigint, input text[] NOT NULL, parameters jsonb,
    subject text, rule text, reason text, given_verdict text, answer jsonb, report bigint, is_of_ledger boolean NOT NULL DEFAULT false) ON COMMIT DROP;
CREATE TEMP TABLE stage_action_rows (position bigint NOT NULL, line bigint, input text[] NOT NULL, parameters jsonb,
    subject text, rule text, reason text, given_verdict text, answer jsonb) ON COMMIT DROP;
CREATE TEMP TABLE stage_action_facts (position bigint PRIMARY KEY, transaction_id text, type text,
    purchase_date timestamptz, expires_date timestamptz, revocation_date timestamptz, in_app_ownership_type text,
    price_milliunits bigint, currency text, signed_date timestamptz,
    offer_discount_type text, has_advanced_commerce boolean, request_date timestamptz,
    expires_date_before timestamptz, extensions bigint NOT NULL,
    consistency_token text, request_reference_id text, refusal text[]) ON COMMIT DROP
