from easyretry import App

app = App("http://127.0.0.1:7077")


@app.handler("mail.send")
def send(order):
    print("mail to", order["to"], flush=True)


app.client.submit("mail.send", {"to": "ann"})
app.run()  # until SIGTERM
