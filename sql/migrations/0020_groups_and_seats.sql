-- Which groups do customers belong to, and who has the seats of a subscription?
--
-- Apple does not sign these answers, so the newest one is kept, with the time at which Apple gave it. The price tiers of seats are rows of
-- transactions and renewal infos; a replay fills them for records that were loaded before.
CREATE TABLE customer_groups (
    app_id                integer     NOT NULL,
    group_id              text        NOT NULL,
    app_transaction_id    text        NOT NULL,
    listed_transaction_id text        NOT NULL,
    group_type            text,
    role_product_ids      text[],
    roles                 text[],
    asked_at              timestamptz NOT NULL,
    first_seen_at         timestamptz NOT NULL DEFAULT now(),
    last_changed_at       timestamptz NOT NULL DEFAULT now(),
    last_run_id           bigint,
    PRIMARY KEY (app_id, group_id, app_transaction_id),
    FOREIGN KEY (app_id) REFERENCES apps(app_id)
);
CREATE INDEX customer_groups_app_transaction_id ON customer_groups (app_id, app_transaction_id);
CREATE INDEX customer_groups_listed_transaction_id ON customer_groups (app_id, listed_transaction_id);

CREATE TABLE group_members (
    app_id             integer     NOT NULL,
    group_id           text        NOT NULL,
    app_transaction_id text        NOT NULL,
    asked_at           timestamptz NOT NULL,
    first_seen_at      timestamptz NOT NULL DEFAULT now(),
    last_changed_at    timestamptz NOT NULL DEFAULT now(),
    last_run_id        bigint,
    PRIMARY KEY (app_id, group_id, app_transaction_id),
    FOREIGN KEY (app_id) REFERENCES apps(app_id)
);
CREATE INDEX group_members_app_transaction_id ON group_members (app_id, app_transaction_id);

CREATE TABLE seats (
    app_id                  integer     NOT NULL,
    original_transaction_id text        NOT NULL,
    total_seat_count        integer     NOT NULL,
    available_seat_count    integer     NOT NULL,
    asked_at                timestamptz NOT NULL,
    first_seen_at           timestamptz NOT NULL DEFAULT now(),
    last_changed_at         timestamptz NOT NULL DEFAULT now(),
    last_run_id             bigint,
    PRIMARY KEY (app_id, original_transaction_id),
    FOREIGN KEY (app_id) REFERENCES apps(app_id)
);

CREATE TABLE seat_claims (
    app_id                  integer NOT NULL,
    seat_claim_id           text    NOT NULL,
    original_transaction_id text    NOT NULL,
    PRIMARY KEY (app_id, seat_claim_id),
    FOREIGN KEY (app_id) REFERENCES apps(app_id)
);
CREATE INDEX seat_claims_original_transaction_id ON seat_claims (app_id, original_transaction_id);

CREATE TABLE seat_price_tiers (
    app_id           integer NOT NULL,
    owner_kind       text    NOT NULL,
    owner_key        text    NOT NULL,
    position         integer NOT NULL,
    price_milliunits bigint,
    quantity         integer,
    currency         text,
    PRIMARY KEY (app_id, owner_kind, owner_key, position),
    FOREIGN KEY (app_id) REFERENCES apps(app_id)
);

-- The roles of existing installations get the rights of sql/roles.sql. A role is known by its rights on tables that only it has them on.
DO $$
DECLARE
    statement text;
BEGIN
    FOR statement IN
        SELECT DISTINCT format(g.rights, pg_get_userbyid(a.grantee))
          FROM (VALUES
                   ('orders', 'INSERT', ARRAY['GRANT SELECT, INSERT, UPDATE, DELETE ON customer_groups, group_members TO %I',
                                              'GRANT SELECT, INSERT, UPDATE ON seats TO %I',
                                              'GRANT SELECT, INSERT, DELETE ON seat_claims TO %I']),
                   ('orders', 'DELETE', ARRAY['GRANT SELECT, DELETE ON customer_groups, group_members, seats, seat_claims TO %I']),
                   ('advanced_commerce_items', 'INSERT', ARRAY['GRANT SELECT, INSERT, DELETE ON seat_price_tiers TO %I']),
                   ('advanced_commerce_items', 'DELETE', ARRAY['GRANT SELECT, DELETE ON seat_price_tiers TO %I']),
                   ('action_attempts', 'INSERT', ARRAY['GRANT SELECT ON seats TO %I'])
               ) known (relation, privilege, statements)
          JOIN pg_class c ON c.oid = to_regclass(known.relation)
          CROSS JOIN LATERAL aclexplode(c.relacl) a
          CROSS JOIN LATERAL unnest(known.statements) AS g (rights)
         WHERE a.privilege_type = known.privilege AND a.grantee <> c.relowner AND a.grantee <> 0
        UNION
        -- The exporter reads columns.
        SELECT DISTINCT format('GRANT SELECT ON customer_groups, group_members, seats, seat_claims, seat_price_tiers TO %I', pg_get_userbyid(a.grantee))
          FROM pg_attribute t CROSS JOIN LATERAL aclexplode(t.attacl) a
         WHERE t.attrelid = 'orders'::regclass AND t.attname = 'order_id' AND a.privilege_type = 'SELECT' AND a.grantee <> 0
    LOOP
        EXECUTE statement;
    END LOOP;
END $$;
