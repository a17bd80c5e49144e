fmt --dialect=legacy %s
