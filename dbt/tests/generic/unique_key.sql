{#- Fails for each combination of values of these columns that more than one row has. -#}
{% test unique_key(model, columns) %}
select {{ columns | join(', ') }}, count(*) as row_count
  from {{ model }}
 group by {{ columns | join(', ') }}
having count(*) > 1
{% endtest %}
