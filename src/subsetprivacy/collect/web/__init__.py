"""The web part of the service: the respondents' page, the studio, and the JSON API."""
