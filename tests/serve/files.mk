unit_tests += tests/serve/latest_test
unit_tests += tests/serve/news_test
