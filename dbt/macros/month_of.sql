{#- The first day of the month in UTC of a moment with a time zone. -#}
{% macro month_of(moment) %}cast(date_trunc('month', {{ moment }} at time zone 'UTC') as date){% endmacro %}
