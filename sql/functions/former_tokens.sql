-- Which appAccountToken did a record have before?

-- As in QuotedIDs. The token of a family member's record can be the payer's.
CREATE OR REPLACE FUNCTION keep_former_token() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    IF TG_ARGV[0] = 'transaction' AND to_jsonb(OLD) ->> 'in_app_ownership_type' IN ('FAMILY_SHARED', 'ASSIGNED')
       AND OLD.app_transaction_id IS NOT NULL THEN
        RETURN NULL;
    END IF;
    INSERT INTO quoted_ids (app_id, owner_kind, owner_key, id_hash)
    VALUES (OLD.app_id, TG_ARGV[0], to_jsonb(OLD) ->> TG_ARGV[1],
            ('x' || encode(substr(sha256(convert_to(OLD.app_account_token::text, 'UTF8')), 1, 8), 'hex'))::bit(64)::bigint)
    ON CONFLICT DO NOTHING;
    RETURN NULL;
END $$;
COMMENT ON FUNCTION keep_former_token IS 'Stores a hash of the token that a record had before in quoted_ids.';

CREATE OR REPLACE TRIGGER keep_former_token AFTER UPDATE ON transactions FOR EACH ROW
    WHEN (OLD.app_account_token IS NOT NULL AND OLD.app_account_token IS DISTINCT FROM NEW.app_account_token)
    EXECUTE FUNCTION keep_former_token('transaction', 'transaction_id');
CREATE OR REPLACE TRIGGER keep_former_token AFTER UPDATE ON refunds FOR EACH ROW
    WHEN (OLD.app_account_token IS NOT NULL AND OLD.app_account_token IS DISTINCT FROM NEW.app_account_token)
    EXECUTE FUNCTION keep_former_token('transaction', 'transaction_id');
CREATE OR REPLACE TRIGGER keep_former_token AFTER UPDATE ON renewals FOR EACH ROW
    WHEN (OLD.app_account_token IS NOT NULL AND OLD.app_account_token IS DISTINCT FROM NEW.app_account_token)
    EXECUTE FUNCTION keep_former_token('renewalInfo', 'original_transaction_id');

REVOKE EXECUTE ON FUNCTION keep_former_token FROM PUBLIC;
