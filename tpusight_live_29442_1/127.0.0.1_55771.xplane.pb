
	/host:CPU
eTask Environment*profile_start_time*profile_stop_time2ý«€ñ§á‰õ2¬‹Ñ¡¨á‰õ"vm