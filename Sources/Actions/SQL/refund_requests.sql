-- The refund requests that a policy can answer, or could have answered: see the function.
SELECT * FROM refund_requests(:app::integer, :days::bigint, :states::text[])
