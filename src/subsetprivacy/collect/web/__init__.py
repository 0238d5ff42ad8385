"""The service in the browser: the respondent's page, the studio, the JSON interface."""
