module subtick-agent

go 1.19
