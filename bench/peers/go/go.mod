module peerbench

go 1.24
