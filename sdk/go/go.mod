module easyretry

go 1.21
